//! Gives the shared library the name by which programs find it: the number changes with the
//! interface.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmptcplab.so.1");
}
