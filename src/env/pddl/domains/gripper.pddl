; A robot with some hands carries balls from room to room. Kinds of things are facts that never change.
(define (domain gripper-strips)
  (:requirements :strips)
  (:predicates
    (room ?place) (ball ?thing) (gripper ?hand)
    (at-robby ?place)           ; where the robot is
    (at ?thing ?place)          ; where a ball lies
    (free ?hand) (carry ?thing ?hand))

  (:action move
    :parameters (?here ?there)
    :precondition (and (room ?here) (room ?there) (at-robby ?here))
    :effect (and (not (at-robby ?here)) (at-robby ?there)))

  (:action pick
    :parameters (?thing ?place ?hand)
    :precondition (and (ball ?thing) (room ?place) (gripper ?hand)
                       (at-robby ?place) (at ?thing ?place) (free ?hand))
    :effect (and (not (at ?thing ?place)) (not (free ?hand)) (carry ?thing ?hand)))

  (:action drop
    :parameters (?thing ?place ?hand)
    :precondition (and (ball ?thing) (room ?place) (gripper ?hand)
                       (at-robby ?place) (carry ?thing ?hand))
    :effect (and (not (carry ?thing ?hand)) (free ?hand) (at ?thing ?place))))
