//! What stage mode hides.

use crate::cli::config::{Config, keys};
use crate::cli::locate;
use crate::text::hosts_of;
use std::path::Path;
use std::sync::Arc;

/// Returns what stage mode hides even where it doesn't look like a path or an address: the folders of this session and of
/// the others, and the configured server.
pub(super) fn private_texts(config: &Config, dir: &Path) -> Arc<[String]> {
    let folders = [dir.display().to_string(), locate::sessions_folder(config).display().to_string()];
    let server = config.get(keys::BASE_URL);
    folders.into_iter().chain(hosts_of(server)).filter(|text| text.len() > 1).collect()
}
