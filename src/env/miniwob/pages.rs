//! The pages of MiniWoB++: a folder of HTML, or the package (a wheel) that contains it.

use crate::env::{EnvError, TaskAccess, TaskError};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::{Component, Path, PathBuf};
use zip::ZipArchive;

/// The folders that the pages need: their common code, and themselves.
const PARTS: [&str; 2] = ["core", "miniwob"];
/// Where the package has them.
const PREFIX_IN_WHEEL: &str = "miniwob/html/";
/// The end of a page's name.
const EXTENSION: &str = ".html";
/// The limits of what is unpacked.
const MAX_FILES: usize = 10_000;
const MAX_UNPACKED_BYTES: u64 = 256 << 20;
const HINT: &str = "install the Python package `miniwob`, or download its wheel with `pip download --no-deps miniwob`, and set \
                    miniwob.pages to the folder `miniwob/html` or to the wheel (docs/MINIWOB.md)";
/// What a URL may not contain as it is.
const RESERVED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

/// Where the pages are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// A folder that has the folders `core` and `miniwob`.
    Folder(PathBuf),
    Wheel(PathBuf),
}

impl Pages {
    /// Finds the pages: at the path that is set, else in the data folder.
    ///
    /// # Errors
    /// Returns [`TaskError::NoData`] if nothing is set, or if there are no pages.
    pub(super) fn find(set: Option<&Path>, access: TaskAccess) -> Result<Self, TaskError> {
        if let Some(path) = set {
            return Self::at(path, access).ok_or_else(|| TaskError::NoData {
                what: format!(
                    "{} has no pages of MiniWoB++: neither a folder with `core` and `miniwob` in it, nor a wheel",
                    path.display()
                ),
                hint: HINT,
            });
        }
        access.options.data.as_deref().and_then(|path| Self::at(path, access)).ok_or_else(|| {
            TaskError::NoData { what: "the pages of MiniWoB++ are not set".to_owned(), hint: HINT }
        })
    }

    fn at(path: &Path, access: TaskAccess) -> Option<Self> {
        let path = access.absolute_path(path);
        let has_pages = |folder: &Path| PARTS.iter().all(|part| access.files.is_dir(&folder.join(part)));
        // The folder itself, or that of the installed package.
        let folders = [path.clone(), path.join("html"), path.join(PREFIX_IN_WHEEL)];
        if let Some(folder) = folders.into_iter().find(|folder| has_pages(folder)) {
            return Some(Self::Folder(folder));
        }
        let is_wheel =
            path.extension().is_some_and(|end| end == "whl" || end == "zip") && access.files.is_file(&path);
        is_wheel.then_some(Self::Wheel(path))
    }

    /// Returns the names of the pages, sorted.
    ///
    /// # Errors
    /// Returns [`TaskError`] if the wheel can't be read.
    pub(super) fn names(&self, access: TaskAccess) -> Result<BTreeSet<String>, TaskError> {
        Ok(match self {
            Self::Folder(folder) => {
                let files = access.files.list(&folder.join(PARTS[1])).into_iter();
                files
                    .filter_map(|file| Some(file.file_name()?.to_str()?.strip_suffix(EXTENSION)?.to_owned()))
                    .collect()
            }
            Self::Wheel(wheel) => {
                let bytes = access.read(wheel)?;
                let archive = open_archive(&bytes)?;
                let folder = format!("{PREFIX_IN_WHEEL}{}/", PARTS[1]);
                let page = |name: &str| {
                    let page = name.strip_prefix(&folder)?.strip_suffix(EXTENSION)?;
                    (!page.contains('/')).then(|| page.to_owned())
                };
                archive.file_names().filter_map(|name| page(&name.ok()?)).collect()
            }
        })
    }

    /// Returns whether there is a page of this name.
    ///
    /// # Errors
    /// The same as [`Pages::names`].
    pub(super) fn has(&self, name: &str, access: TaskAccess) -> Result<bool, TaskError> {
        Ok(match self {
            Self::Folder(folder) => {
                access.files.is_file(&folder.join(PARTS[1]).join(format!("{name}{EXTENSION}")))
            }
            Self::Wheel(_) => self.names(access)?.contains(name),
        })
    }
}

fn open_archive(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, EnvError> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken("the archive", error.to_string()))
}

fn broken(place: &str, reason: String) -> EnvError {
    EnvError::Broken { file: "the package of MiniWoB++".to_owned(), place: place.to_owned(), reason }
}

/// Writes the pages in a wheel to a new folder.
///
/// # Errors
/// Returns [`EnvError::Broken`] for a wheel that isn't one or is too large, and if a file can't be written.
pub(super) fn unpack(wheel: &[u8], folder: &Path) -> Result<(), EnvError> {
    let mut archive = open_archive(wheel)?;
    if archive.len() > MAX_FILES {
        return Err(broken("the archive", format!("it has more than {MAX_FILES} files")));
    }
    let mut left = MAX_UNPACKED_BYTES;
    for index in 0..archive.len() {
        let mut file =
            archive.by_index(index).map_err(|error| broken(&format!("file {index}"), error.to_string()))?;
        let name =
            file.name().map_err(|error| broken(&format!("file {index}"), error.to_string()))?.into_owned();
        let Some(path) =
            name.strip_prefix(PREFIX_IN_WHEEL).filter(|path| !path.is_empty() && !path.ends_with('/'))
        else {
            continue;
        };
        let path = Path::new(path);
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(broken(&name, "it leads out of the folder".to_owned()));
        }
        let target = folder.join(path);
        let written = target.parent().map_or(Ok(()), crate::files::create_folder).and_then(|()| {
            let mut output = crate::files::create_new(&target)?;
            std::io::copy(&mut std::io::Read::take(&mut file, left), &mut output)
        });
        let written = written.map_err(|error| broken(&name, error.to_string()))?;
        left -= written;
        if left == 0 {
            return Err(broken(
                "the archive",
                format!("it has more than {} MiB of pages", MAX_UNPACKED_BYTES >> 20),
            ));
        }
    }
    Ok(())
}

/// Returns the URL of a page.
pub(super) fn page_url(folder: &Path, page: &str) -> String {
    let path = folder.join(PARTS[1]).join(format!("{page}{EXTENSION}"));
    format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), RESERVED))
}
