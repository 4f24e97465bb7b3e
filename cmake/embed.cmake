# SPDX-License-Identifier: Apache-2.0
# Writes FILES as initialisers {"name", R"(text)"}, one each, into OUTPUT.
set(text "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(APPEND text "{\"${name}\", R\"cordon(${content})cordon\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
