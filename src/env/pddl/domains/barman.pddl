; Two hands, shot glasses, dispensers and a shaker: single ingredients and cocktails of two are served in shots.
(define (domain barman)
  (:requirements :strips :typing)
  (:types
    hand level dispenser beverage container - object
    ingredient cocktail - beverage
    shot shaker - container)
  (:predicates
    (handempty ?hand - hand) (holding ?hand - hand ?vessel - container) (ontable ?vessel - container)
    (empty ?vessel - container) (clean ?vessel - container)
    (contains ?vessel - container ?drink - beverage)
    (used ?vessel - container ?drink - beverage)          ; what a glass is dirty of
    (dispenses ?tap - dispenser ?drink - ingredient)
    (shaker-empty-level ?shaker - shaker ?level - level) (shaker-level ?shaker - shaker ?level - level)
    (next ?lower - level ?higher - level)
    (unshaked ?shaker - shaker) (shaked ?shaker - shaker)
    (cocktail-part1 ?mix - cocktail ?drink - ingredient) (cocktail-part2 ?mix - cocktail ?drink - ingredient))

  (:action grasp
    :parameters (?hand - hand ?vessel - container)
    :precondition (and (handempty ?hand) (ontable ?vessel))
    :effect (and (not (handempty ?hand)) (not (ontable ?vessel)) (holding ?hand ?vessel)))

  (:action leave
    :parameters (?hand - hand ?vessel - container)
    :precondition (holding ?hand ?vessel)
    :effect (and (not (holding ?hand ?vessel)) (handempty ?hand) (ontable ?vessel)))

  (:action fill-shot
    :parameters (?glass - shot ?drink - ingredient ?hand - hand ?other - hand ?tap - dispenser)
    :precondition (and (holding ?hand ?glass) (handempty ?other) (dispenses ?tap ?drink)
                       (empty ?glass) (clean ?glass))
    :effect (and (not (empty ?glass)) (not (clean ?glass)) (contains ?glass ?drink) (used ?glass ?drink)))

  (:action refill-shot
    :parameters (?glass - shot ?drink - ingredient ?hand - hand ?other - hand ?tap - dispenser)
    :precondition (and (holding ?hand ?glass) (handempty ?other) (dispenses ?tap ?drink)
                       (empty ?glass) (used ?glass ?drink))
    :effect (and (not (empty ?glass)) (contains ?glass ?drink)))

  (:action empty-shot
    :parameters (?hand - hand ?glass - shot ?drink - beverage)
    :precondition (and (holding ?hand ?glass) (contains ?glass ?drink))
    :effect (and (not (contains ?glass ?drink)) (empty ?glass)))

  (:action clean-shot
    :parameters (?glass - shot ?drink - beverage ?hand - hand ?other - hand)
    :precondition (and (holding ?hand ?glass) (handempty ?other) (empty ?glass) (used ?glass ?drink))
    :effect (and (not (used ?glass ?drink)) (clean ?glass)))

  (:action pour-shot-to-clean-shaker
    :parameters (?glass - shot ?drink - ingredient ?shaker - shaker ?hand - hand ?from - level ?to - level)
    :precondition (and (holding ?hand ?glass) (contains ?glass ?drink) (empty ?shaker) (clean ?shaker)
                       (shaker-level ?shaker ?from) (next ?from ?to))
    :effect (and (not (contains ?glass ?drink)) (not (empty ?shaker)) (not (clean ?shaker))
                 (not (shaker-level ?shaker ?from))
                 (empty ?glass) (contains ?shaker ?drink) (unshaked ?shaker) (shaker-level ?shaker ?to)))

  (:action pour-shot-to-used-shaker
    :parameters (?glass - shot ?drink - ingredient ?shaker - shaker ?hand - hand ?from - level ?to - level)
    :precondition (and (holding ?hand ?glass) (contains ?glass ?drink) (unshaked ?shaker)
                       (shaker-level ?shaker ?from) (next ?from ?to))
    :effect (and (not (contains ?glass ?drink)) (not (shaker-level ?shaker ?from))
                 (empty ?glass) (contains ?shaker ?drink) (shaker-level ?shaker ?to)))

  (:action empty-shaker
    :parameters (?hand - hand ?shaker - shaker ?mix - cocktail ?from - level ?to - level)
    :precondition (and (holding ?hand ?shaker) (contains ?shaker ?mix) (shaked ?shaker)
                       (shaker-level ?shaker ?from) (shaker-empty-level ?shaker ?to))
    :effect (and (not (shaked ?shaker)) (not (shaker-level ?shaker ?from)) (not (contains ?shaker ?mix))
                 (shaker-level ?shaker ?to) (empty ?shaker)))

  (:action clean-shaker
    :parameters (?hand - hand ?other - hand ?shaker - shaker)
    :precondition (and (holding ?hand ?shaker) (handempty ?other) (empty ?shaker))
    :effect (clean ?shaker))

  (:action shake
    :parameters (?mix - cocktail ?first - ingredient ?second - ingredient ?shaker - shaker
                 ?hand - hand ?other - hand)
    :precondition (and (holding ?hand ?shaker) (handempty ?other) (unshaked ?shaker)
                       (contains ?shaker ?first) (contains ?shaker ?second)
                       (cocktail-part1 ?mix ?first) (cocktail-part2 ?mix ?second))
    :effect (and (not (unshaked ?shaker)) (not (contains ?shaker ?first)) (not (contains ?shaker ?second))
                 (shaked ?shaker) (contains ?shaker ?mix)))

  (:action pour-shaker-to-shot
    :parameters (?drink - beverage ?glass - shot ?hand - hand ?shaker - shaker ?from - level ?to - level)
    :precondition (and (holding ?hand ?shaker) (shaked ?shaker) (contains ?shaker ?drink)
                       (empty ?glass) (clean ?glass)
                       (shaker-level ?shaker ?from) (next ?to ?from))
    :effect (and (not (clean ?glass)) (not (empty ?glass)) (not (shaker-level ?shaker ?from))
                 (contains ?glass ?drink) (shaker-level ?shaker ?to))))
