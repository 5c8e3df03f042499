//! What every generated game promises.

use super::*;

#[test]
fn a_name_is_read_and_written() {
    for text in ["easy/heat/1", "normal/two/0", "hard/look/4294967295"] {
        assert_eq!(TaskId::parse(text).unwrap().to_string(), text);
        assert_eq!(TaskId::parse(&format!("household/{text}")).unwrap().to_string(), text);
    }
    for text in [
        "",
        "heat/1",
        "easy/heat",
        "easy/heat/",
        "easy/heat/1/2",
        "easy/heat/-1",
        "easy/heat/+1",
        "easy/heat/01",
        "easy/boil/1",
    ] {
        let error = TaskId::parse(text).unwrap_err().to_string();
        assert!(error.contains("normal/heat/17"), "{error}");
    }
}
