//! Compiles the BPF programs with the distribution's clang, where there is one.
//!
//! Without it the crate is built all the same, with empty objects, and says at run time what is
//! missing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

const PROGRAMS: &str = "programs";
const SUFFIX: &str = ".bpf.c";
/// Where distributions put the compiler.
const FOLDERS: [&str; 2] = ["/usr/bin", "/usr/local/bin"];

fn main() {
    println!("cargo::rerun-if-changed={PROGRAMS}");
    println!("cargo::rerun-if-env-changed=CLANG");
    let compiler = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let is_there = Command::new(&compiler).arg("--version").output().is_ok();
    if !is_there {
        // The folders change when it comes: a missing file would have everything built anew each
        // time.
        for folder in FOLDERS.iter().filter(|folder| Path::new(folder).is_dir()) {
            println!("cargo::rerun-if-changed={folder}");
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for entry in fs::read_dir(PROGRAMS).expect("the programs are in the crate") {
        let source = entry.expect("the programs can be listed").path();
        let name = source.file_name().and_then(|name| name.to_str());
        let Some(stem) = name.and_then(|name| name.strip_suffix(SUFFIX)) else {
            continue;
        };
        let object = out.join(format!("{stem}.o"));
        if is_there {
            compile(&compiler, &source, &object);
        } else {
            fs::write(&object, []).expect("the build's folder can be written");
        }
    }
}

fn compile(compiler: &str, source: &Path, object: &Path) {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let status = Command::new(compiler)
        .args(["--target=bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra"])
        // No path of the machine in what is built.
        .arg(format!("-ffile-prefix-map={folder}=."))
        .args(["-fdebug-compilation-dir", "."])
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!(
            "{compiler} cannot compile {} for BPF: it needs clang 12 or newer; CLANG=clang-14, \
             say, chooses another one",
            source.display()
        );
        process::exit(1);
    }
}
