# SPDX-License-Identifier: Apache-2.0
"""Programs that people run in sandboxes, and the tree that they work on."""
import dataclasses
import json
import shutil
import subprocess

DIRECTORIES, FILES = 200, 100       # of each of them

MODULES = ("argparse asyncio base64 calendar collections concurrent.futures configparser csv ctypes dataclasses decimal difflib email.mime.text "
           "fractions gzip hashlib html.parser http.client http.server inspect json logging.config multiprocessing optparse pickle pydoc random "
           "smtplib sqlite3 ssl statistics subprocess tarfile tempfile textwrap tomllib typing unittest.mock urllib.request uuid xml.dom.minidom "
           "xml.etree.ElementTree xmlrpc.client zipfile")

SOURCE = """
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>
std::map<std::string, int> count_of(const std::vector<std::string>& lines) {
  std::map<std::string, int> count;
  for (const std::string& line : lines) ++count[line.substr(0, line.find(' '))];
  return count;
}
int main() {
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  for (const auto& [word, count] : count_of(lines)) std::cout << word << ' ' << count << '\\n';
}
"""

TEST = """
const test = require('node:test'), assert = require('node:assert'), fs = require('node:fs'), path = require('node:path');
for (let i = 0; i < 20; ++i) {
  test(`case ${i}`, () => {
    const name = path.join(__dirname, `made-%d-${i}`);
    fs.writeFileSync(name, 'x'.repeat(1000 * i));
    assert.equal(fs.statSync(name).size, 1000 * i);
    fs.unlinkSync(name);
  });
}
"""


@dataclasses.dataclass
class Program:
    name: str
    words: list
    directory: str      # below the workspace


def all_programs():
    """Those that are installed here."""
    found = [
        Program("g++ compile", ["/usr/bin/g++", "-O1", "-c", "words.cc", "-o", "words.o"], "source"),
        Program("git status", ["/usr/bin/git", "status", "--porcelain"], "tree"),
        Program("python import", ["/usr/bin/python3", "-c", "import " + ", ".join(MODULES.split())], "source"),
        Program("npm test", ["/usr/bin/npm", "test", "--silent"], "package"),
        Program("walk (du)", ["/usr/bin/du", "-s", "--apparent-size", "."], "tree"),
        Program("search (grep -r)", ["/usr/bin/grep", "-r", "--exclude-dir=.git", "-c", "nowhere to be found", "."], "tree"),
    ]
    return [program for program in found if shutil.which(program.words[0])]


def make_tree(top):
    """A new directory with all that the programs need."""
    for name in ("home", "scratch", "source", "tree", "package/test"):
        (top / name).mkdir(parents=True)
    (top / "source/words.cc").write_text(SOURCE)
    (top / "package/package.json").write_text(json.dumps({"name": "package", "version": "1.0.0", "scripts": {"test": "node --test test/"}}))
    for number in range(3):
        (top / f"package/test/part{number}.test.js").write_text(TEST % number)
    for directory in range(DIRECTORIES):
        path = top / f"tree/part{directory // 20}/d{directory}"
        path.mkdir(parents=True)
        for file in range(FILES):
            (path / f"file{file}.txt").write_text(f"line of {directory} {file}\n" * (1 + file % 80))
    if shutil.which("git"):
        git = ["git", "-C", str(top / "tree"), "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"], ["repack", "-adq"], ["prune-packed", "-q"]):
            subprocess.run([*git, *words], check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(top / "home")})
