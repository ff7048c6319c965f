//! Which program is found, and what its package says.

use mngr_host::files::{Access, Durability};
use mngr_host::local::LocalFiles;

use super::*;

fn put(path: &HostPath, text: &str, access: Access) {
    LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
    LocalFiles.write(path, text.as_bytes(), access, Durability::Cached).unwrap();
}

#[test]
fn a_program_is_the_first_on_path_that_can_be_run_and_its_package_tells_the_version() {
    let dir = tempfile::tempdir().unwrap();
    let root = HostPath::new(dir.path().canonicalize().unwrap().to_str().unwrap());
    let program = root.join("lib/tool/bin/tool.js");
    put(&program, "", Access::PrivateExecutable);
    put(&root.join("a/tool"), "only text", Access::Private);
    put(&root.join("lib/tool/bin/package.json"), r#"{"name":"other","version":"9.9.9"}"#, Access::Private);
    put(&root.join("lib/tool/package.json"), r#"{"name":"@x/tool","version":"1.2.3"}"#, Access::Private);
    LocalFiles.make_folder(&root.join("b")).unwrap();
    LocalFiles.link(program.as_str(), &root.join("b/tool")).unwrap();
    let search = format!("relative:{root}/none:{root}/a:{root}/b");
    assert_eq!(find(&LocalFiles, &search, "tool").unwrap(), Some(program.clone()));
    assert_eq!(find(&LocalFiles, &search, "mool").unwrap(), None);
    assert_eq!(find(&LocalFiles, "", root.join("b/tool").as_str()).unwrap(), Some(program.clone()));
    assert_eq!(of_package(&LocalFiles, &program, "@x/tool").unwrap(), Some("1.2.3".parse().unwrap()));
    assert_eq!(of_package(&LocalFiles, &program, "@y/tool").unwrap(), None);
}
