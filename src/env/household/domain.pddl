; The built-in household, as rules. One agent walks between furniture, carries at most one thing, and can
; wash, heat, cool, cut and switch on. Predicate names are those of ALFWorld's problem files, so that a problem
; and its goal read the same to any program that knows those.
;
; Everything an action may be played on is named by its parameters; the grammar refers to them by name.

(define (domain alfred)
  (:requirements :adl :typing)

  (:types agent location receptacle rtype otype object)

  (:predicates
    ; places
    (atLocation ?a - agent ?l - location)
    (receptacleAtLocation ?r - receptacle ?l - location)
    (objectAtLocation ?o - object ?l - location)

    ; furniture: what kind it is, what that kind takes, whether it has a door or a lid
    (receptacleType ?r - receptacle ?kind - rtype)
    (canContain ?kind - rtype ?of - otype)
    (openable ?r - receptacle)
    (opened ?r - receptacle)

    ; things: what kind, where, and what can be done with them
    (objectType ?o - object ?kind - otype)
    (inReceptacle ?o - object ?r - receptacle)
    (isReceptacleObject ?o - object)
    (inReceptacleObject ?inside - object ?outside - object)
    (pickupable ?o - object)
    (cleanable ?o - object)
    (heatable ?o - object)
    (coolable ?o - object)
    (sliceable ?o - object)
    (toggleable ?o - object)

    ; what has been done with them
    (isClean ?o - object)
    (isHot ?o - object)
    (isCool ?o - object)
    (isSliced ?o - object)
    (isToggled ?o - object)

    ; the hand, and what has been looked at (a mark that gives the looking actions an effect)
    (holds ?a - agent ?o - object)
    (holdsAny ?a - agent)
    (checked ?x - object))

  ; Looking is always possible and changes nothing that matters.

  (:action Help
    :parameters (?a - agent)
    :precondition ()
    :effect (checked ?a))

  (:action Inventory
    :parameters (?a - agent)
    :precondition ()
    :effect (checked ?a))

  (:action LookAround
    :parameters (?a - agent ?l - location)
    :precondition (atLocation ?a ?l)
    :effect (checked ?l))

  (:action ExamineReceptacle
    :parameters (?a - agent ?r - receptacle)
    :precondition (exists (?l - location)
      (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)))
    :effect (checked ?r))

  (:action ExamineObject
    :parameters (?a - agent ?o - object)
    :precondition (holds ?a ?o)
    :effect (checked ?o))

  ; One walks to a piece of furniture; whatever else stands at that spot is then at hand as well.

  (:action Walk
    :parameters (?a - agent ?start - location ?end - location ?r - receptacle)
    :precondition (and (atLocation ?a ?start) (receptacleAtLocation ?r ?end) (not (= ?start ?end)))
    :effect (and (not (atLocation ?a ?start)) (atLocation ?a ?end)))

  ; Doors and lids.

  (:action Open
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (openable ?r) (not (opened ?r)))
    :effect (and (opened ?r) (checked ?r)))

  (:action Close
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (openable ?r) (opened ?r))
    :effect (not (opened ?r)))

  ; The hand takes and puts. A closed receptacle neither gives nor takes; none is ever full.

  (:action Take
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (pickupable ?o) (inReceptacle ?o ?r)
      (not (holdsAny ?a))
      (or (opened ?r) (not (openable ?r))))
    :effect (and (holds ?a ?o) (holdsAny ?a)
      (not (inReceptacle ?o ?r)) (not (objectAtLocation ?o ?l))))

  (:action Put
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle ?ot - otype ?rt - rtype)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (holds ?a ?o)
      (objectType ?o ?ot) (receptacleType ?r ?rt) (canContain ?rt ?ot)
      (or (opened ?r) (not (openable ?r))))
    :effect (and (inReceptacle ?o ?r) (objectAtLocation ?o ?l)
      (not (holds ?a ?o)) (not (holdsAny ?a))))

  ; What is held is treated at the right appliance, whose door does not matter.

  (:action Clean
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (receptacleType ?r SinkBasinType) (cleanable ?o) (holds ?a ?o))
    :effect (isClean ?o))

  (:action Heat
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (receptacleType ?r MicrowaveType) (heatable ?o) (holds ?a ?o))
    :effect (and (isHot ?o) (not (isCool ?o))))

  (:action Cool
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (receptacleType ?r FridgeType) (coolable ?o) (holds ?a ?o))
    :effect (and (isCool ?o) (not (isHot ?o))))

  ; Lamps and blades. A lamp that was used stays used; a cut thing stays one thing.

  (:action SwitchOn
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (toggleable ?o) (inReceptacle ?o ?r))
    :effect (isToggled ?o))

  (:action Slice
    :parameters (?a - agent ?l - location ?o - object ?blade - object)
    :precondition (and (atLocation ?a ?l) (objectAtLocation ?o ?l)
      (sliceable ?o) (holds ?a ?blade)
      (or (objectType ?blade KnifeType) (objectType ?blade ButterKnifeType)))
    :effect (isSliced ?o))
)
