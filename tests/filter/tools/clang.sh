# SPDX-License-Identifier: Apache-2.0
# needs: clang++-19
printf '#include <vector>\nint main(){return (int)std::vector<int>(3).size()-3;}' >a.cc
clang++-19 -g -o a a.cc
./a
echo done
