//! What stage mode hides.

use crate::cli::config::{Config, keys};
use crate::cli::locate;
use crate::text::hosts_of;
use std::path::Path;
use std::sync::Arc;

/// Returns what stage mode hides even where it doesn't look like a path or an address: the folders of this session and of
/// the others, and the servers that are configured, whether the run has one of them or a person chooses it later.
pub(super) fn private_texts(config: &Config, dir: &Path) -> Arc<[String]> {
    let folders = [dir, &locate::sessions_folder(config)].map(|folder| folder.display().to_string());
    // A folder of one word, such as `sessions`, is hidden in paths only.
    let folders = folders.map(|name| if name.contains('/') { name } else { format!("{name}/") });
    let servers = [keys::BASE_URL, keys::MENTOR_BASE_URL].map(|key| config.get(key));
    let hosts = servers.into_iter().chain(config.profile_addresses()).flat_map(hosts_of);
    folders.into_iter().chain(hosts).filter(|text| text.len() > 1).collect()
}
