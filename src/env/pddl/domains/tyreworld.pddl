; Flat tyres are replaced by spare wheels, with tools from the boot that are put back in the end.
(define (domain tyreworld)
  (:requirements :strips :typing)
  (:types
    obj container hub - object
    tool wheel nut - obj)
  (:constants wrench jack pump - tool)
  (:predicates
    (unlocked ?box - container) (closed ?box - container) (isopen ?box - container)
    (have ?thing - obj) (in ?thing - obj ?box - container)
    (tight ?nut - nut ?hub - hub) (loose ?nut - nut ?hub - hub)
    (on-ground ?hub - hub) (not-on-ground ?hub - hub)
    (fastened ?hub - hub) (unfastened ?hub - hub) (free ?hub - hub)
    (on ?wheel - wheel ?hub - hub)
    (intact ?wheel - wheel) (inflated ?wheel - wheel) (not-inflated ?wheel - wheel))

  (:action open
    :parameters (?box - container)
    :precondition (and (unlocked ?box) (closed ?box))
    :effect (and (not (closed ?box)) (isopen ?box)))

  (:action close
    :parameters (?box - container)
    :precondition (isopen ?box)
    :effect (and (not (isopen ?box)) (closed ?box)))

  (:action fetch
    :parameters (?thing - obj ?box - container)
    :precondition (and (isopen ?box) (in ?thing ?box))
    :effect (and (not (in ?thing ?box)) (have ?thing)))

  (:action put-away
    :parameters (?thing - obj ?box - container)
    :precondition (and (isopen ?box) (have ?thing))
    :effect (and (not (have ?thing)) (in ?thing ?box)))

  (:action loosen
    :parameters (?nut - nut ?hub - hub)
    :precondition (and (have wrench) (on-ground ?hub) (tight ?nut ?hub))
    :effect (and (not (tight ?nut ?hub)) (loose ?nut ?hub)))

  (:action tighten
    :parameters (?nut - nut ?hub - hub)
    :precondition (and (have wrench) (on-ground ?hub) (loose ?nut ?hub))
    :effect (and (not (loose ?nut ?hub)) (tight ?nut ?hub)))

  ; The jack stays below the hub until it is lowered again.
  (:action jack-up
    :parameters (?hub - hub)
    :precondition (and (have jack) (on-ground ?hub))
    :effect (and (not (have jack)) (not (on-ground ?hub)) (not-on-ground ?hub)))

  (:action jack-down
    :parameters (?hub - hub)
    :precondition (not-on-ground ?hub)
    :effect (and (not (not-on-ground ?hub)) (on-ground ?hub) (have jack)))

  (:action undo
    :parameters (?nut - nut ?hub - hub)
    :precondition (and (have wrench) (not-on-ground ?hub) (fastened ?hub) (loose ?nut ?hub))
    :effect (and (not (loose ?nut ?hub)) (not (fastened ?hub)) (have ?nut) (unfastened ?hub)))

  (:action do-up
    :parameters (?nut - nut ?hub - hub)
    :precondition (and (have wrench) (have ?nut) (not-on-ground ?hub) (unfastened ?hub))
    :effect (and (not (have ?nut)) (not (unfastened ?hub)) (loose ?nut ?hub) (fastened ?hub)))

  (:action remove-wheel
    :parameters (?wheel - wheel ?hub - hub)
    :precondition (and (not-on-ground ?hub) (unfastened ?hub) (on ?wheel ?hub))
    :effect (and (not (on ?wheel ?hub)) (have ?wheel) (free ?hub)))

  (:action put-on-wheel
    :parameters (?wheel - wheel ?hub - hub)
    :precondition (and (have ?wheel) (not-on-ground ?hub) (unfastened ?hub) (free ?hub))
    :effect (and (not (have ?wheel)) (not (free ?hub)) (on ?wheel ?hub)))

  (:action inflate
    :parameters (?wheel - wheel)
    :precondition (and (have pump) (intact ?wheel) (not-inflated ?wheel))
    :effect (and (not (not-inflated ?wheel)) (inflated ?wheel))))
