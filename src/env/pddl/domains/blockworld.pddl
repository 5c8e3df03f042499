; One arm builds towers on a table that has room for every block.
(define (domain blocksworld-4ops)
  (:requirements :strips)
  (:predicates
    (arm-empty) (holding ?block)
    (on-table ?block) (on ?block ?below)
    (clear ?block))             ; nothing lies on it and the arm does not hold it

  (:action pickup
    :parameters (?block)
    :precondition (and (arm-empty) (on-table ?block) (clear ?block))
    :effect (and (not (arm-empty)) (not (on-table ?block)) (not (clear ?block)) (holding ?block)))

  (:action putdown
    :parameters (?block)
    :precondition (holding ?block)
    :effect (and (not (holding ?block)) (on-table ?block) (clear ?block) (arm-empty)))

  (:action stack
    :parameters (?block ?below)
    :precondition (and (holding ?block) (clear ?below))
    :effect (and (not (holding ?block)) (not (clear ?below))
                 (on ?block ?below) (clear ?block) (arm-empty)))

  (:action unstack
    :parameters (?block ?below)
    :precondition (and (arm-empty) (on ?block ?below) (clear ?block))
    :effect (and (not (arm-empty)) (not (on ?block ?below)) (not (clear ?block))
                 (clear ?below) (holding ?block))))
