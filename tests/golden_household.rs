//! Generated household games against what the Python stack said when it played them.

use retrospect::env::household::{TaskId, export_folder};
use std::path::Path;

fn main() {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("--write") {
        let dir = args.next().unwrap();
        for id in args {
            let game = export_folder(&TaskId::parse(&id).unwrap()).unwrap();
            let folder = Path::new(&dir).join(&game.folder);
            std::fs::create_dir_all(&folder).unwrap();
            for (name, text) in game.files {
                std::fs::write(folder.join(name), text).unwrap();
            }
            println!("{id}\t{}", folder.display());
        }
    }
}
