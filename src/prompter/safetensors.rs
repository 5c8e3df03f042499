//! The safetensors format: eight bytes with the length of a JSON header, the header with name, type, shape and place of each
//! tensor, and their data.
//!
//! Tensors are read one at a time and converted to `f32`, so that reading a model needs little more memory than the model.

use super::ModelError;
use crate::files;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The longest header that the format allows, in bytes.
const MAX_HEADER_BYTES: u64 = 100_000_000;
/// How many bytes are read and converted at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The types of tensors that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberType {
    F32,
    F16,
    Bf16,
}

impl NumberType {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "F32" => Some(Self::F32),
            "F16" => Some(Self::F16),
            "BF16" => Some(Self::Bf16),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    fn append(self, bytes: &[u8], values: &mut Vec<f32>) {
        let pairs = || bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
        match self {
            Self::F32 => values.extend(bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four))),
            Self::Bf16 => values.extend(pairs().map(|bits| f32::from_bits(u32::from(bits) << 16))),
            Self::F16 => values.extend(pairs().map(f32_from_f16)),
        }
    }
}

/// Converts a number of 16 bits (IEEE 754) without loss.
fn f32_from_f16(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => return f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => 0x7f80_0000 | fraction << 13,
        exponent => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// Where a tensor is, and what it consists of.
#[derive(Clone, Debug)]
pub(super) struct TensorPlace {
    file: PathBuf,
    /// As the file calls it.
    type_name: String,
    pub(super) shape: Vec<usize>,
    /// Bytes from the beginning of the file.
    start: u64,
    end: u64,
}

impl TensorPlace {
    /// Returns the number of values.
    pub(super) fn len(&self) -> u64 {
        self.shape.iter().map(|size| *size as u64).product()
    }

    /// Returns the number of bytes on the disk.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.end - self.start
    }

    /// Reads all values; `on_bytes` gets the bytes as they are stored, piece by piece.
    ///
    /// # Errors
    /// Fails if the tensor has another type than f32, f16 or bf16, or if it can't be read; or with the error of `on_bytes`.
    pub(super) fn read(
        &self,
        mut on_bytes: impl FnMut(&[u8]) -> Result<(), ModelError>,
    ) -> Result<Vec<f32>, ModelError> {
        let fail = |what: String| ModelError::in_file(&self.file, what);
        let number = NumberType::from_name(&self.type_name).ok_or_else(|| {
            fail(format!("{} numbers can't be read, only F32, F16 and BF16", self.type_name))
        })?;
        let mut file = files::open(&self.file).map_err(|error| fail(error.to_string()))?;
        file.seek(SeekFrom::Start(self.start)).map_err(|error| fail(error.to_string()))?;
        let mut left = self.stored_bytes() as usize;
        let mut values = Vec::with_capacity(left / number.bytes());
        let mut chunk = vec![0; CHUNK_BYTES.min(left)];
        while left > 0 {
            let piece = &mut chunk[..left.min(CHUNK_BYTES)];
            file.read_exact(piece).map_err(|error| fail(error.to_string()))?;
            number.append(piece, &mut values);
            left -= piece.len();
            on_bytes(piece)?;
        }
        Ok(values)
    }
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// Reads the header of a file: its tensors by name.
///
/// # Errors
/// Fails if the file can't be read, or if its header contradicts itself or the size of the file.
pub(super) fn read_header(path: &Path) -> Result<BTreeMap<String, TensorPlace>, ModelError> {
    let fail = |what: String| ModelError::in_file(path, what);
    let mut file = files::open(path).map_err(|error| fail(error.to_string()))?;
    let file_bytes = file.metadata().map_err(|error| fail(error.to_string()))?.len();
    let text = header_text(&mut file, file_bytes).map_err(&fail)?;
    let data_start = 8 + text.len() as u64;
    let header: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(&text).map_err(|error| fail(format!("unreadable header: {error}")))?;
    let mut tensors = BTreeMap::new();
    for (name, entry) in header.into_iter().filter(|(name, _)| name != "__metadata__") {
        let Entry { dtype, shape, data_offsets: [start, end] } =
            Entry::deserialize(entry).map_err(|error| fail(format!("header of {name}: {error}")))?;
        if end < start || data_start.checked_add(end).is_none_or(|end| end > file_bytes) {
            return Err(fail(format!("the data of {name} is outside of the file; it may be incomplete")));
        }
        // Of other types only the place is kept: a file may have tensors that the model doesn't need.
        if let Some(number) = NumberType::from_name(&dtype) {
            let bytes = shape
                .iter()
                .try_fold(number.bytes() as u64, |product, size| product.checked_mul(*size as u64));
            if bytes != Some(end - start) {
                return Err(fail(format!("the data of {name} doesn't have the size of {dtype} {shape:?}")));
            }
        }
        let place = TensorPlace {
            file: path.to_owned(),
            type_name: dtype,
            shape,
            start: data_start + start,
            end: data_start + end,
        };
        tensors.insert(name, place);
    }
    Ok(tensors)
}

fn header_text(file: &mut File, file_bytes: u64) -> Result<Vec<u8>, String> {
    let mut length = [0; 8];
    file.read_exact(&mut length)
        .map_err(|_| "not a safetensors file: shorter than eight bytes".to_owned())?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER_BYTES || length > file_bytes.saturating_sub(8) {
        return Err(format!("not a safetensors file: a header of {length} bytes doesn't fit"));
    }
    let mut text = vec![0; length as usize];
    file.read_exact(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_with(header: &str, data: &[u8]) -> tempfile::NamedTempFile {
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn all_three_types_become_the_same_numbers() {
        // 1.5 and -2 as f32, as f16 and as bf16.
        let data = [
            &1.5_f32.to_le_bytes()[..],
            &(-2.0_f32).to_le_bytes(),
            &0x3e00_u16.to_le_bytes(),
            &0xc000_u16.to_le_bytes(),
            &0x3fc0_u16.to_le_bytes(),
            &0xc000_u16.to_le_bytes(),
        ]
        .concat();
        let header = r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
            "b":{"dtype":"F16","shape":[1,2],"data_offsets":[8,12]},"c":{"dtype":"BF16","shape":[2,1],"data_offsets":[12,16]}}"#;
        let file = file_with(header, &data);
        let tensors = read_header(file.path()).unwrap();
        assert_eq!(tensors.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(tensors["b"].shape, [1, 2]);
        for place in tensors.values() {
            let mut stored = 0;
            let values = place.read(|bytes| {
                stored += bytes.len() as u64;
                Ok(())
            });
            assert_eq!(values.unwrap(), [1.5, -2.0]);
            assert_eq!((place.len(), stored), (2, place.stored_bytes()));
        }
    }

    #[test]
    fn short_floats_are_converted_as_the_standard_says() {
        let cases = [
            (0x0000, 0.0),
            (0x0001, 2.0_f32.powi(-24)),
            (0x03ff, 1023.0 * 2.0_f32.powi(-24)),
            (0x0400, 2.0_f32.powi(-14)),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
            (0x8001, -(2.0_f32.powi(-24))),
        ];
        for (bits, value) in cases {
            assert_eq!(f32_from_f16(bits).to_bits(), f32::to_bits(value), "{bits:x}");
        }
        assert!(f32_from_f16(0x7e00).is_nan());
        assert_eq!(f32_from_f16(0x8000).to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn broken_files_are_errors() {
        let entry = |shape: &str, offsets: &str| {
            format!(r#"{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#)
        };
        for (header, data, expected) in [
            (entry("[2]", "[0,8]"), 4, "outside of the file"),
            (entry("[2]", "[8,0]"), 8, "outside of the file"),
            (entry("[3]", "[0,8]"), 8, "doesn't have the size"),
            (entry("[4294967296,4294967296]", "[0,8]"), 8, "doesn't have the size"),
            (r#"{"a":{"dtype":"F32"}}"#.to_owned(), 0, "header of a"),
            ("[]".to_owned(), 0, "unreadable header"),
        ] {
            let file = file_with(&header, &vec![0; data]);
            let error = read_header(file.path()).unwrap_err().to_string();
            assert!(error.contains(expected), "{header}: {error}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        for bytes in [&b"GGUF"[..], &[255; 20]] {
            std::fs::write(file.path(), bytes).unwrap();
            let error = read_header(file.path()).unwrap_err().to_string();
            assert!(error.contains("not a safetensors file"), "{error}");
        }
        let header = r#"{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#;
        let file = file_with(header, &[0; 8]);
        let error = read_header(file.path()).unwrap()["a"].read(|_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("I64"), "{error}");
    }
}
