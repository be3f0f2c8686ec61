#!/bin/sh
# Build the checker of kernel certificates, check_kernel, in a folder: build.sh FOLDER
# Debian 12: apt-get install --no-install-recommends coq ocaml-nox ocaml-findlib libzarith-ocaml-dev
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cp "$here/../checker.v" "$here/extract.v" "$here/main.ml" "$1"
cd "$1"
coqc -q -w none -Q . kernel checker.v
coqc -q -w none -Q . kernel extract.v
ocamlfind ocamlopt -package zarith -linkpkg -w -a checker.mli checker.ml main.ml -o check_kernel
