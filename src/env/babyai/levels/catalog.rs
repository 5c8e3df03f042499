//! The table of levels.

use super::Level;
use super::grammar::Grammar;
use super::recipe::Recipe;
use crate::env::babyai::level_start::RoomLayout;

/// Builds a row of the table. The tuple is room size, rows, columns.
const fn level(number: u8, name: &'static str, (size, rows, cols): (i16, i16, i16), recipe: Recipe) -> Level {
    Level {
        number,
        name,
        in_test_split: true,
        rooms: RoomLayout { size, rows, cols },
        max_steps: None,
        recipe,
    }
}

impl Level {
    const fn with_max_steps(mut self, most: u32) -> Self {
        self.max_steps = Some(most);
        self
    }

    const fn not_in_split(mut self) -> Self {
        self.in_test_split = false;
        self
    }
}

const MAZE: (i16, i16, i16) = (8, 3, 3);

/// All levels, ordered by number.
pub(super) const LEVELS: &[Level] = &[
    level(1, "GoToRedBallGrey", (8, 1, 1), Recipe::GoToRedBall { distractors: 7, grey_distractors: true }),
    level(2, "GoToRedBall", (8, 1, 1), Recipe::GoToRedBall { distractors: 7, grey_distractors: false }),
    level(
        3,
        "GoToRedBallNoDists",
        (8, 1, 1),
        Recipe::GoToRedBall { distractors: 0, grey_distractors: false },
    ),
    // The registry gives S6 a room of size 4.
    level(4, "GoToObjS6", (4, 1, 1), Recipe::GoToObject),
    level(5, "GoToLocalS8N7", (8, 1, 1), Recipe::GoToLocal { distractors: 7 }),
    level(6, "GoToObjMazeS7", (7, 3, 3), Recipe::GoToInMaze { distractors: 1 }),
    level(7, "GoToImpUnlock", MAZE, Recipe::GoToBehindLock),
    level(8, "GoToSeqS5R2", (5, 2, 2), Recipe::Random(Grammar::GO_TO)),
    level(9, "GoToRedBlueBall", (8, 1, 1), Recipe::GoToRedOrBlueBall),
    level(10, "GoToDoor", (7, 3, 3), Recipe::GoToDoor),
    level(11, "GoToObjDoor", MAZE, Recipe::GoToThingOrDoor),
    level(12, "Open", MAZE, Recipe::Open),
    level(13, "OpenRedDoor", (5, 1, 2), Recipe::OpenRedDoor),
    level(14, "OpenDoorLoc", MAZE, Recipe::OpenDoorOnSide),
    level(15, "OpenRedBlueDoorsDebug", (6, 3, 3), Recipe::OpenTwoDoors).with_max_steps(720),
    level(16, "OpenDoorsOrderN4Debug", (6, 3, 3), Recipe::OpenInOrder { doors: 4 }).with_max_steps(720),
    level(17, "Pickup", MAZE, Recipe::PickUp { distractors: 18, is_blocked: false }),
    level(18, "UnblockPickup", MAZE, Recipe::PickUp { distractors: 20, is_blocked: true }),
    level(19, "PickupLoc", (8, 1, 1), Recipe::Random(Grammar::PICK_UP)),
    level(20, "PickupDistDebug", (7, 1, 1), Recipe::PickUpOneOfFive),
    level(21, "PickupAbove", (6, 3, 3), Recipe::PickUpAbove).with_max_steps(288),
    level(22, "PutNextLocalS6N4", (6, 1, 1), Recipe::PutNextLocal { things: 4 }).not_in_split(),
    level(23, "PutNextS7N4Carrying", (7, 1, 2), Recipe::PutNextCarrying { things: 4 })
        .with_max_steps(392)
        .not_in_split(),
    level(24, "Unlock", MAZE, Recipe::Unlock),
    level(25, "UnlockLocalDist", MAZE, Recipe::UnlockLocal),
    level(26, "KeyInBox", MAZE, Recipe::KeyInBox).not_in_split(),
    level(27, "UnlockPickupDist", (6, 1, 2), Recipe::UnlockPickUp),
    level(28, "BlockedUnlockPickup", (6, 1, 2), Recipe::BlockedUnlockPickUp).with_max_steps(576),
    level(29, "UnlockToUnlock", (6, 1, 3), Recipe::UnlockToUnlock).with_max_steps(1080),
    level(30, "ActionObjDoor", (7, 3, 3), Recipe::AnyAction).not_in_split(),
    level(31, "FindObjS7", (7, 3, 3), Recipe::FindObject).with_max_steps(980),
    level(32, "KeyCorridorS6R3", (6, 3, 3), Recipe::KeyCorridor).with_max_steps(1080),
    level(33, "OneRoomS20", (20, 1, 1), Recipe::OneRoom).not_in_split(),
    level(34, "MoveTwoAcrossS8N9", (8, 1, 2), Recipe::MoveTwoAcross { things: 9 })
        .with_max_steps(1024)
        .not_in_split(),
    level(35, "SynthS5R2", (5, 2, 3), Recipe::Random(Grammar::SYNTH_SMALL)).not_in_split(),
    level(36, "SynthLoc", MAZE, Recipe::Random(Grammar::SYNTH_LOCATIONS)).not_in_split(),
    level(37, "SynthSeq", MAZE, Recipe::Random(Grammar::SYNTH_SEQUENCE)).not_in_split(),
    level(38, "MiniBossLevel", (5, 2, 2), Recipe::Random(Grammar::MINI_BOSS)).not_in_split(),
    level(39, "BossLevel", MAZE, Recipe::Random(Grammar::BOSS)).not_in_split(),
    level(40, "BossLevelNoUnlock", MAZE, Recipe::Random(Grammar::BOSS_NO_UNLOCK)).not_in_split(),
];
