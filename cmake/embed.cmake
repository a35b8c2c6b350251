# cmake -DROOT=DIR -DFILES="KIND/PATH;…" -DTABLE=NAME -DHEADER=FILE.h -DOUT=FILE.c -P embed.cmake
#
# Writes the files below ROOT as a table of struct embedded_file, which HEADER declares: kind, path,
# text with a NUL behind it, and length.
set(arrays "")
set(table "")
set(number 0)
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "^([^/]+)/(.*)$" "{\"\\1\", \"\\2\"" row ${file})
  string(APPEND arrays "static const unsigned char file_${number}[] = {${bytes}0};\n")
  string(APPEND table "    ${row}, file_${number}, sizeof(file_${number}) - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\n${arrays}\n"
     "const struct embedded_file ${TABLE}[] = {\n${table}    {0},\n};\n")
