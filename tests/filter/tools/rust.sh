# SPDX-License-Identifier: Apache-2.0
# needs: rustc
cat >a.rs <<'X'
fn main() {
    assert_eq!(std::thread::spawn(|| 42).join().unwrap(), 42);
    assert!(std::process::Command::new("true").status().unwrap().success());
    std::fs::write("f", "x").unwrap();
    std::fs::remove_file("f").unwrap();
}
X
rustc -O a.rs
./a
echo done
