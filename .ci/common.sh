# What the three scripts share: stages with their seconds, a clean copy of the tree, one environment for developers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
unset PYTHONDONTWRITEBYTECODE  # hundreds of processes import the same files

work=$(mktemp -d)
summary=""
finish() {
  local status=$?
  rm -rf "$work"
  [[ -z $summary ]] || printf '\n== seconds of each stage\n%b%7d  in all\n' "$summary" "$SECONDS"
  [[ $status -eq 0 ]] || printf '== FAILED: %s\n' "${running:-before the first stage}"
}
trap finish EXIT

# stage NAME COMMAND...: runs the command and notes how long it took. The first that fails ends the script.
stage() {
  local started=$SECONDS
  running=$1
  shift
  printf '\n== %s\n' "$running"
  "$@"
  summary+=$(printf '%7d  %s' $((SECONDS - started)) "$running")'\n'
}

# at_once COMMAND...: runs commands at the same time, each given as one string, and prints the output of each in turn.
# It fails if any of them fails.
at_once() {
  local each processes=() status=0
  for each in "$@"; do
    $each >"$work/at_once.${#processes[@]}" 2>&1 &
    processes+=($!)
  done
  for each in "${!processes[@]}"; do
    wait "${processes[$each]}" || status=1
    cat "$work/at_once.$each"
  done
  return $status
}

left_out() {
  printf '\n== LEFT OUT: %s\n' "$*"
  summary+=$(printf '%7s  %s' '-' "LEFT OUT: $*")'\n'
}

# What git knows or would add: no build outputs, no environments. Outside a git checkout: everything.
copy_of_the_tree() {
  mkdir -p "$1"
  if git -c safe.directory="$PWD" rev-parse --is-inside-work-tree >"$work/git.log" 2>&1; then
    git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' file; do
        if [[ -e $file || -L $file ]]; then printf '%s\0' "$file"; fi
      done | tar --null --files-from=- --create | tar --extract --directory="$1"
  else
    cp -R . "$1"
  fi
}

# The environment of developers, with all extras. PyTorch comes first, at a version whose wheel is for the CPU alone:
# Opacus would take the newest, with gigabytes of CUDA.
install_tools() {
  python3 -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0
  (cd "$work/tree" && "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --editable '.[dev,jax,opacus,secure]' equinox flax)  # the tutorials train with the last two
}

# tool NAME ARGUMENTS...: a program of that environment, in the copy of the tree.
tool() { (cd "$work/tree" && "$work/venv/bin/$1" "${@:2}"); }

# Tests that skip themselves for want of a program or a library would be lost without a word.
tests() {
  tool python -m pytest -q "$@" | tee "$work/tests.log"
  if grep -E '^SKIPPED' "$work/tests.log" | grep -vE 'pandas is not installed|all tests skipped by \+SKIP option|a minute each: python docs/accountants.py'; then
    echo "the tests above were skipped: what is not installed?" >&2
    return 1
  fi
}

apt_install() {
  local sudo
  sudo=$([[ $EUID -eq 0 ]] || echo sudo)
  $sudo apt-get update -qq
  $sudo apt-get install -qq --no-install-recommends "$@" >"$work/apt.log"
}
