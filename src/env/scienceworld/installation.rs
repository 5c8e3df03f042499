//! Where Java and the simulator are on this machine.

use crate::env::external::{read_wheel_member, write_cached_file};
use crate::env::{EnvironmentOption, OptionValues, TaskAccess, TaskError};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The simulator: its JAR, a wheel of its Python package, or a folder in which that package is installed.
pub const JAR_OPTION: EnvironmentOption = EnvironmentOption {
    name: "scienceworld.jar",
    meaning: "ScienceWorld's simulator: its JAR, a wheel file of its Python package, or a folder in which the package is installed",
    values: OptionValues::Path,
    variable: "SCIENCEWORLD_JAR",
};

/// A Python environment in which the package may be installed.
pub const PYTHON_OPTION: EnvironmentOption = EnvironmentOption {
    name: "scienceworld.python",
    meaning: "a virtual environment of Python in which ScienceWorld's package may be installed",
    values: OptionValues::Path,
    variable: "VIRTUAL_ENV",
};

/// The installation of Java.
pub const JAVA_OPTION: EnvironmentOption = EnvironmentOption {
    name: "scienceworld.java_home",
    meaning: "the folder of the Java installation that runs ScienceWorld's simulator; without it, `java` on the PATH",
    values: OptionValues::Path,
    variable: "JAVA_HOME",
};

/// A newer gateway, which asks for a token.
pub const PY4J_OPTION: EnvironmentOption = EnvironmentOption {
    name: "scienceworld.py4j_jar",
    meaning: "the JAR of py4j 0.10.9 or newer, whose gateway lets no other user of this machine in",
    values: OptionValues::Path,
    variable: "SCIENCEWORLD_PY4J_JAR",
};

const JAR_NAME: &str = "scienceworld.jar";
/// The JAR in a wheel, and below a folder of installed packages.
const JAR_IN_PACKAGE: &str = "scienceworld/scienceworld.jar";
/// The SHA-256 of the JAR of version 1.2.3, with which the recordings in the tests were made.
const KNOWN_JAR: &str = "f4e1fdce0cdabe1bab7128a7e78ea820210d9db3c28d7272bcbbc3f3a1c5f0d7";
/// The class of the gateway in py4j's JAR.
const GATEWAY_MEMBER: &str = "py4j/GatewayServer.class";
/// The flag with which a gateway demands a token. Class files contain their texts as they are. A gateway that doesn't know
/// the flag ignores it and prints no token.
pub(super) const TOKEN_FLAG: &str = "--enable-auth";
const PY4J_HINT: &str =
    "set it to the JAR of py4j 0.10.9 or newer (share/py4j of Python's py4j package), or to nothing";
const NO_JAR_HINT: &str = "run `pip download --no-deps scienceworld==1.2.3` and set SCIENCEWORLD_JAR to the file that it \
                           saves (docs/SCIENCEWORLD.md)";

/// What the simulator is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Installation {
    pub(super) java: PathBuf,
    pub(super) jar: PathBuf,
    pub(super) py4j_jar: Option<PathBuf>,
}

impl Installation {
    /// Finds Java and the simulator. A wheel is unpacked into the user's cache folder.
    ///
    /// # Errors
    /// Returns [`TaskError::NoData`] if there is no simulator, or if a path leads to nothing of the kind.
    pub(super) fn find(access: TaskAccess) -> Result<Self, TaskError> {
        let options = access.options;
        let java = match options.path(&JAVA_OPTION) {
            Some(home) => {
                let java = access.absolute_path(home).join("bin/java");
                Some(java).filter(|java| access.files.is_file(java)).ok_or_else(|| TaskError::NoData {
                    what: format!(
                        "there is no bin/java in {} (scienceworld.java_home, JAVA_HOME)",
                        home.display()
                    ),
                    hint: "set it to a Java installation, version 8 or newer, or to nothing",
                })?
            }
            None => PathBuf::from("java"),
        };
        let py4j_jar = options.path(&PY4J_OPTION).map(|path| {
            let found = Some(access.absolute_path(path)).filter(|path| access.files.is_file(path));
            let found = found.ok_or_else(|| TaskError::NoData {
                what: format!("there is no file {} (scienceworld.py4j_jar)", path.display()),
                hint: PY4J_HINT,
            })?;
            check_gateway(&found, &access.read(&found)?).map(|()| found)
        });
        Ok(Self { java, jar: find_jar(access)?, py4j_jar: py4j_jar.transpose()? })
    }

    /// Returns the warning about a JAR that isn't that of version 1.2.3.
    pub(super) fn version_warning(&self, access: TaskAccess) -> Option<String> {
        let sum = checksum_of_file(&self.jar, access)?;
        (sum != KNOWN_JAR).then(|| {
            format!(
                "{} is not ScienceWorld 1.2.3 (its SHA-256 begins with {}): texts and scores may differ from recorded episodes",
                self.jar.display(),
                &sum[..16]
            )
        })
    }
}

/// Checks that the gateway in a JAR can demand a token.
fn check_gateway(path: &Path, jar: &[u8]) -> Result<(), TaskError> {
    let unusable = |why: &str| TaskError::NoData {
        what: format!("{} (scienceworld.py4j_jar) {why}", path.display()),
        hint: PY4J_HINT,
    };
    let class = read_wheel_member(jar, GATEWAY_MEMBER)
        .map_err(|what| unusable(&format!("is not the JAR of py4j: {what}")))?;
    if class.windows(TOKEN_FLAG.len()).any(|part| part == TOKEN_FLAG.as_bytes()) {
        return Ok(());
    }
    Err(unusable("is an older py4j, whose gateway can't demand a token"))
}

fn find_jar(access: TaskAccess) -> Result<PathBuf, TaskError> {
    if let Some(path) = access.options.path(&JAR_OPTION) {
        return jar_at(path, access)?.ok_or_else(|| TaskError::NoData {
            what: format!(
                "{} is neither ScienceWorld's JAR, nor its wheel, nor a folder with either",
                path.display()
            ),
            hint: NO_JAR_HINT,
        });
    }
    // The data folder is usually another environment's; what isn't in it may be elsewhere.
    for path in [access.options.data.as_deref(), access.options.path(&PYTHON_OPTION)].into_iter().flatten() {
        if let Some(jar) = jar_at(path, access)? {
            return Ok(jar);
        }
    }
    Err(TaskError::NoData { what: "ScienceWorld's simulator was not found".to_owned(), hint: NO_JAR_HINT })
}

/// Returns the JAR that a path leads to: itself, a wheel's, or that of a package installed there.
fn jar_at(path: &Path, access: TaskAccess) -> Result<Option<PathBuf>, TaskError> {
    if access.files.is_file(path) {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        return match extension {
            "jar" => Ok(Some(access.absolute_path(path))),
            "whl" => unpack_wheel(path, access).map(Some),
            _ => Ok(None),
        };
    }
    let direct = [path.join(JAR_NAME), path.join(JAR_IN_PACKAGE)];
    let mut libraries = access.subfolders(&path.join("lib"));
    libraries.sort();
    let installed =
        libraries.into_iter().rev().map(|python| python.join("site-packages").join(JAR_IN_PACKAGE));
    let found = direct.into_iter().chain(installed).find(|jar| access.files.is_file(jar));
    if let Some(jar) = found {
        return Ok(Some(access.absolute_path(&jar)));
    }
    let is_wheel = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("scienceworld-") && file.extension().is_some_and(|extension| extension == "whl")
    };
    let mut wheels: Vec<PathBuf> = access.files.list(path).into_iter().filter(is_wheel).collect();
    wheels.sort();
    wheels.pop().map(|wheel| unpack_wheel(&wheel, access)).transpose()
}

/// Unpacks the JAR of a wheel, once for each wheel that this process meets.
fn unpack_wheel(wheel: &Path, access: TaskAccess) -> Result<PathBuf, TaskError> {
    static UNPACKED: Mutex<Vec<(PathBuf, PathBuf)>> = Mutex::new(Vec::new());
    let wheel = access.absolute_path(wheel);
    let mut unpacked = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, jar)) = unpacked.iter().find(|(known, jar)| *known == wheel && access.files.is_file(jar))
    {
        return Ok(jar.clone());
    }
    let bytes = read_wheel_member(&access.read(&wheel)?, JAR_IN_PACKAGE).map_err(|what| {
        TaskError::NoData { what: format!("{}: {what}", wheel.display()), hint: NO_JAR_HINT }
    })?;
    let name = format!("scienceworld-{}.jar", &checksum(&bytes)[..16]);
    let jar = write_cached_file(&name, &bytes).map_err(|source| TaskError::Io {
        path: PathBuf::from(format!("{name} in the cache folder")),
        source,
    })?;
    unpacked.push((wheel, jar.clone()));
    Ok(jar)
}

/// Returns the checksum of a file, which is read once.
fn checksum_of_file(path: &Path, access: TaskAccess) -> Option<String> {
    static KNOWN: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, sum)) = known.iter().find(|(known, _)| known == path) {
        return Some(sum.clone());
    }
    let sum = checksum(&access.files.read(path).ok()?);
    known.push((path.to_owned(), sum.clone()));
    Some(sum)
}

/// Returns the SHA-256 in hexadecimal digits.
fn checksum(bytes: &[u8]) -> String {
    crate::domain::hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write as _};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn jar(member: &str, content: &[u8]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file(member, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
        writer.finish().unwrap().into_inner()
    }

    /// Regression: with an older py4j, opening waited 90 s for a token that its gateway doesn't print.
    #[test]
    fn an_older_py4j_is_refused_before_it_is_started() {
        let check = |jar: &[u8]| check_gateway(Path::new("/opt/py4j.jar"), jar);
        assert!(
            check(&jar(GATEWAY_MEMBER, b"\x01\0\x15--die-on-broken-pipe\x01\0\x0d--enable-auth")).is_ok()
        );
        for (bytes, part) in [
            (jar(GATEWAY_MEMBER, b"\x01\0\x15--die-on-broken-pipe"), "is an older py4j"),
            (jar("py4j/Gateway.class", b""), "the archive has no py4j/GatewayServer.class"),
            (b"text".to_vec(), "it is not a ZIP archive"),
        ] {
            let error = check(&bytes).unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("/opt/py4j.jar (scienceworld.py4j_jar) is ") && text.contains(part),
                "{text}"
            );
            assert!(error.hint().contains("py4j 0.10.9 or newer"), "{}", error.hint());
        }
    }
}
