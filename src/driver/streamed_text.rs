//! The text of a reply while it arrives.

use std::fmt;
use std::sync::Arc;

/// Bytes in a block.
const BLOCK_BYTES: usize = 4096;

/// A text that grows at its end. A clone shares all but the last few kilobytes with it, so the screen can take one for each
/// frame however long the reply is.
#[derive(Clone, Debug, Default)]
pub struct StreamedText {
    /// The text up to `end`, in blocks that no longer change.
    blocks: Vec<Arc<str>>,
    end: String,
}

impl StreamedText {
    /// Appends a piece.
    pub fn push_str(&mut self, piece: &str) {
        self.end.push_str(piece);
        if self.end.len() >= BLOCK_BYTES {
            self.blocks.push(std::mem::take(&mut self.end).into());
        }
    }

    /// Moves another text to the end of this one.
    pub fn append(&mut self, other: &mut Self) {
        let Self { blocks, end } = std::mem::take(other);
        if !blocks.is_empty() {
            self.blocks.push(std::mem::take(&mut self.end).into());
            self.blocks.extend(blocks);
        }
        self.push_str(&end);
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.len()).sum::<usize>() + self.end.len()
    }

    /// Returns whether nothing has arrived.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the end of the text: at least its last `bytes` bytes, or all of a shorter text.
    pub fn tail(&self, bytes: usize) -> String {
        let mut missing = bytes.saturating_sub(self.end.len());
        let mut first = self.blocks.len();
        while missing > 0 && first > 0 {
            first -= 1;
            missing = missing.saturating_sub(self.blocks[first].len());
        }
        self.blocks[first..].iter().map(|block| &**block).chain([self.end.as_str()]).collect()
    }
}

impl fmt::Display for StreamedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blocks.iter().try_for_each(|block| f.write_str(block))?;
        f.write_str(&self.end)
    }
}

impl From<&str> for StreamedText {
    fn from(text: &str) -> Self {
        let mut streamed = Self::default();
        streamed.push_str(text);
        streamed
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BYTES, StreamedText};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_what_a_string_would(
            pieces in prop::collection::vec(("[aé\n]{0,40}", 0..400usize, any::<bool>()), 0..30),
            bytes in 0..3 * BLOCK_BYTES,
        ) {
            let (mut plain, mut streamed) = (String::new(), StreamedText::default());
            for (piece, repeats, appended) in pieces {
                let piece = piece.repeat(repeats);
                plain.push_str(&piece);
                if appended {
                    streamed.append(&mut piece.as_str().into());
                } else {
                    streamed.push_str(&piece);
                }
            }
            prop_assert_eq!(streamed.to_string(), plain.clone());
            prop_assert_eq!((streamed.len(), streamed.is_empty()), (plain.len(), plain.is_empty()));
            let tail = streamed.tail(bytes);
            prop_assert!(plain.ends_with(&tail) && tail.len() >= bytes.min(plain.len()));
            prop_assert_eq!(streamed.tail(usize::MAX), plain);
        }
    }

    /// Regression: every frame copied the whole reply.
    #[test]
    fn a_clone_shares_all_but_the_end() {
        let mut text = StreamedText::default();
        (0..1000).for_each(|_| text.push_str(&"x".repeat(100)));
        let clone = text.clone();
        assert!(clone.end.len() < BLOCK_BYTES + 100);
        assert!(clone.blocks.iter().zip(&text.blocks).all(|(a, b)| std::sync::Arc::ptr_eq(a, b)));
    }
}
