"""Check the kernel: compile all files with Coq, look for gaps in the proofs, and see that false claims are refused.

From the root of the project, with Coq 8.16 and mathcomp 1.15 (Debian 12: coq, libcoq-bignums,
libcoq-mathcomp-algebra, libcoq-mathcomp-algebra-tactics)::

    python3 proofs/kernel/build.py              everything, a few minutes on one core
    python3 proofs/kernel/build.py NAME ...     the files, and the controls of these theorems
    python3 proofs/kernel/build.py --extracted  the checker of kernel certificates as a program, and real certificates

The files are copied first, so that nothing is written beside them. The build fails if

1. a file does not compile within its time, holds a word that leaves a gap (``Admitted``, ``Axiom``, ...), or a command
   that is not in ``COMMANDS``: ``statements.v`` may only define, so that no notation changes how a claim reads;
2. a theorem does not prove the claim of its name in ``statements.v``, or rests on an axiom (``Print Assumptions``);
3. ``coqchk``, a second checker, which is independent of tactics, refuses a compiled file, or finds an axiom of our own
   or a check that was switched off;
4. a control compiles: a claim of which ``controls.toml`` alters a few characters, so that it is false. The proof has to
   fail in the theorem of that claim, and nowhere else. With the claims repeated and nothing altered, it must not fail.
   For some of the controls, Coq checks a proof that the altered claim is false;
5. the checker of kernel certificates, extracted to OCaml (``extracted/``), refuses a certificate of a real run in
   ``certificates/``, or accepts it with a smaller δ, with larger masses or with more steps. This needs OCaml and
   Zarith, too (ocaml-nox, ocaml-findlib, libzarith-ocaml-dev);
6. Coq itself, with machine integers (``machine.v``), does not accept some of these certificates, or accepts one with a
   smaller δ, or rests on other axioms than those of Coq's machine integers.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = "checker"  # what the kernel certificates are checked by: definitions only
STATEMENTS = "statements"
MACHINE = "machine"  # the same program with machine integers
# In the order of compilation; a file needs only those before it.
PROOFS = (
    "profiles",
    "composition",
    "sampling",
    "allocation",
    "sums",
    "batches",
    "pairs",
    "truncation",
    "sizes",
    "filters",
    "lattice",
    "integers",
    "packing",
    "accepted",
    "certificate",
    "whole_numbers",
    "masses",
    "discrete",
)
FILES = (PROGRAM, STATEMENTS, *PROOFS, MACHINE)
CERTIFICATES = HERE / "certificates"
INSIDE = ("allocation", "discrete_gaussians")  # those that Coq itself checks
SECONDS = 120  # for one file
AXIOMS: frozenset[str] = frozenset()  # that a theorem may rest on
MACHINE_AXIOM = re.compile(r"(PrimInt63|Uint63)\.\w+")  # that a check of a certificate inside Coq may rest on
GAPS = re.compile(
    r"\b(Admitted|admit|give_up|Abort|Axioms?|Conjectures?|Parameters?|Context|Primitive|bypass_check"
    r"|Unset\s+\w+\s+Checking|type-in-type|Declare|Module|Include|Load|LoadPath|Redirect|Extraction|Cd|Drop)\b"
)
# How the commands of a file may begin, outside of proofs.
DEFINITIONS = (
    r"From mathcomp Require Import all_ssreflect all_algebra$",
    r"From kernel Require checker$",
    r"Set Implicit Arguments$",
    r"Unset (Strict Implicit|Printing Implicit Defensive)$",
    r"Import Order\.TTheory GRing\.Theory Num\.Theory$",
    r"Local Open Scope (ring|nat|N)_scope$",
    r"(Section|End) \w+$",
    r"(Definition|Fixpoint) .*?:=",
    r"Arguments ",
)
OF_THE_PROGRAM = (
    *DEFINITIONS,
    r"From Coq Require Import NArith List$",
)
COMMANDS = (
    *DEFINITIONS,
    r"From (mathcomp|kernel|Coq) Require Import [\w ]+$",
    r"(Lemma|Theorem|Let) ",
    r"(Local )?Notation ",
    r"Implicit Types? ",
)
WITH_MACHINE_INTEGERS = (*COMMANDS, r"From Bignums Require Import BigN$")
# These declare an axiom outside of a section.
VARIABLES = r"(Variables?|Hypothes[ei]s) "
CLAIM = re.compile(r"^Definition ([A-Z]\w*) : Prop :=.*?\.$", re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\(\* ([\w/]+\.md)(?:, sections? ([\d and]+))?\. ")


class Refused(Exception):
    """The kernel is not checked; the message says why."""


@dataclass(frozen=True)
class Claim:
    """A claim of ``statements.v``.

    Attributes:
        name: Its name, of which the theorem's is the same in small letters.
        text: Its definition in Coq.
        comment: The words before it.
        over_fields: Whether it is about any ordered field R.
    """

    name: str
    text: str
    comment: str
    over_fields: bool

    @property
    def theorem(self) -> str:
        return self.name.lower()

    @property
    def _cited(self) -> re.Match[str]:
        found = CITED.match(self.comment)
        if found is None:
            raise Refused(
                f"the comment of {self.name} must begin with a path, and a section; it begins {self.comment[:60]!r}"
            )
        return found

    @property
    def page(self) -> str:
        """The proof on paper, relative to ``dpbounds/privacy``."""
        return self._cited[1]

    @property
    def sections(self) -> list[str | None]:
        """The sections of that page, or None where it has none."""
        return re.findall(r"\d+", self._cited[2] or "") or [None]


@dataclass(frozen=True)
class Control:
    """A change that makes a claim false.

    Attributes:
        claim: The name of the claim.
        old: A text that is once in its definition,
        new: and what replaces it.
        why: Why the altered claim is false.
        proof_old: A text of the proof,
        proof_new: and what replaces it, wherever it is.
        refuted: A proof in Coq that the altered claim is false, where there is one.
    """

    claim: str
    old: str
    new: str
    why: str
    proof_old: str = ""
    proof_new: str = ""
    refuted: str = ""

    def altered(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise Refused(f"the control of {self.claim} must alter a text that is there once; {self.old!r} is not")
        return text.replace(self.old, self.new)


def source(name: str) -> str:
    """The text of a file of the kernel."""
    return (HERE / f"{name}.v").read_text(encoding="utf-8")


def claims() -> dict[str, Claim]:
    """The claims of ``statements.v`` by name, in their order."""
    text = source(STATEMENTS)
    found = {}
    for match in CLAIM.finditer(text):
        comment = text[: match.start()].rpartition("\n\n")[2]
        found[match[1]] = Claim(match[1], match[0], comment, match.start() < text.index("End Kernel."))
    return found


def theorems(name: str) -> dict[str, str]:
    """The theorems of a file, with the claims that their first lines name."""
    found = re.findall(r"^Theorem (\w+)(?: \(R : realFieldType\))? : ([A-Z]\w*)(?: R)?\.$", source(name), re.MULTILINE)
    return dict(found)


def controls() -> list[Control]:
    """The controls of ``controls.toml``."""
    with (HERE / "controls.toml").open("rb") as file:
        return [Control(**entry) for entry in tomllib.load(file)["control"]]


def gaps(name: str) -> list[str]:
    """The words of a file that leave a gap in a proof."""
    return [match[0] for match in GAPS.finditer(source(name))]


def sentences(text: str) -> list[str]:
    """The sentences of a file, without comments, each on one line."""
    code, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part in ("(*", "*)"):
            depth += 1 if part == "(*" else -1
        elif not depth:
            code.append(part)
    found = re.split(r"\.(?=\s|\Z)", " ".join(code))
    return [" ".join(sentence.split()) for sentence in found if sentence.strip()]


def forbidden(name: str, text: str) -> list[str]:
    """The sentences that a file may not contain, for example a notation in ``statements.v``."""
    special = {STATEMENTS: DEFINITIONS, PROGRAM: OF_THE_PROGRAM, MACHINE: WITH_MACHINE_INTEGERS}
    allowed = special.get(name, COMMANDS)
    found, sections, in_proof = [], 0, False
    for sentence in sentences(text):
        if in_proof:
            in_proof = sentence != "Qed"
        elif sentence == "Proof" and name not in (PROGRAM, STATEMENTS):
            in_proof = True
        elif re.match(VARIABLES, sentence):
            if not sections or (name == STATEMENTS and sentence != "Variable R : realFieldType"):
                found.append(sentence)
        elif not any(re.match(command, sentence) for command in allowed):
            found.append(sentence)
        sections += sentence.startswith("Section ") - sentence.startswith("End ")
    return found + (["a proof without Qed"] if in_proof else [])


def with_claims(name: str, texts: list[str]) -> str:
    """A file of proofs with claims of its own, which hide those of ``statements.v``."""
    text = source(name)
    scopes = list(re.finditer(r"^Local Open Scope \w+\.\n", text, re.MULTILINE))
    if not scopes:
        raise Refused(f"{name}.v must contain a line 'Local Open Scope ...', after which altered claims are put")
    before, after = text[: scopes[-1].end()], text[scopes[-1].end() :]
    repeated = ["Section Altered.", "Variable R : realFieldType.", "Local Notation steps := (steps R)."]
    repeated += ["Local Notation fraction := (fraction R).", *texts]
    return before + "\n".join([*repeated, "End Altered.", after])


def refutation(claim: Claim, control: Control) -> str:
    """A file that proves the altered claim to be false."""
    lines = ["From mathcomp Require Import all_ssreflect all_algebra."]
    lines += ["From kernel Require Import statements profiles composition."]
    lines += ["Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive."]
    lines += ["Import Order.TTheory GRing.Theory Num.Theory.", "Local Open Scope ring_scope."]
    lines += (
        ["Section Refuted.", "Variable R : realFieldType."] if claim.over_fields else ["Local Open Scope nat_scope."]
    )
    lines += [control.altered(claim.text), f"Theorem refuted : ~ {claim.name}.", "Proof.", control.refuted, "Qed."]
    return "\n".join([*lines, "End Refuted." if claim.over_fields else "", "Print Assumptions refuted."])


def coq(folder: Path, program: str, *arguments: str, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a program of Coq in a folder, where the files are the library ``kernel``."""
    try:
        return ran([program, "-q", *arguments] if program == "coqc" else [program, *arguments], folder, seconds)
    except FileNotFoundError:
        raise Refused(
            f"{program} is not installed; on Debian 12: apt-get install coq libcoq-bignums libcoq-mathcomp-algebra "
            "libcoq-mathcomp-algebra-tactics"
        ) from None


def compiled(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    return coq(folder, "coqc", "-w", "none", "-Q", ".", "kernel", f"{name}.v")


def check_files(folder: Path) -> None:
    """Compile all files."""
    present = {path.stem for path in HERE.glob("*.v")}
    if present != set(FILES):
        raise Refused(f"FILES must name the files of the folder; they differ in {present ^ set(FILES)}")
    for name in FILES:
        if words := gaps(name):
            raise Refused(f"{name}.v leaves a gap: {', '.join(words)}")
        if found := forbidden(name, source(name)):
            raise Refused(f"{name}.v may not contain: {'; '.join(found)}")
        (folder / f"{name}.v").write_text(source(name), encoding="utf-8")
        result = compiled(folder, name)
        if result.returncode:
            raise Refused(f"{name}.v does not compile:\n{result.stdout}{result.stderr}")
        print(f"{name}.v", flush=True)


def check_theorems(folder: Path) -> None:
    """Compare every theorem with the claim of its name, and print what it rests on."""
    lines = ["From mathcomp Require Import all_ssreflect all_algebra."]
    lines += [f"From kernel Require {name}." for name in FILES]
    proven = [(name, theorem) for name in PROOFS for theorem in theorems(name)]
    stated = {claim.theorem: claim for claim in claims().values()}
    if sorted(stated) != sorted(theorem for _, theorem in proven):
        raise Refused(f"claims and theorems must have the same names; {set(stated) ^ {t for _, t in proven}} differ")
    for name, theorem in proven:
        claim = stated[theorem]
        stated_claim = f"kernel.{STATEMENTS}.{claim.name}"
        meaning = f"forall R : realFieldType, {stated_claim} R" if claim.over_fields else stated_claim
        lines.append(f"Definition checked_{theorem} : {meaning} := @kernel.{name}.{theorem}.")
        lines.append(f"Print Assumptions checked_{theorem}.")
    (folder / "assumptions.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = compiled(folder, "assumptions")
    if result.returncode:
        raise Refused(f"a theorem is not the claim of its name:\n{result.stderr}")
    closed = result.stdout.count("Closed under the global context\n")
    axioms = set(re.findall(r"^(\S+)\s*:", result.stdout, re.MULTILINE))
    if not axioms <= AXIOMS or (not AXIOMS and closed != len(proven)):
        raise Refused(f"of {len(proven)} theorems {closed} rest on no axiom; Coq prints:\n{result.stdout}")
    print(f"          {closed} theorems, no axiom", flush=True)


def switched_off(summary: str) -> list[str]:
    """Axioms of our files, and checks that they switched off, in the summary of ``coqchk``."""
    parts = dict(re.findall(r"^\* ([^:\n]*): ?(.*?)(?=^\* |\Z)", summary, re.MULTILINE | re.DOTALL))
    expected = {"Axioms", "Constants/Inductives relying on type-in-type"}
    expected |= {"Constants/Inductives relying on unsafe (co)fixpoints", "Inductives whose positivity is assumed"}
    if missing := expected - set(parts):
        raise Refused(f"coqchk must report {', '.join(sorted(missing))}; it prints:\n{summary}")
    # Names that mathcomp and Coq seal in a module are listed with the axioms.
    found = re.findall(r"kernel\.\S+", parts["Axioms"])
    return found + [
        f"{key}: {parts[key].strip()}" for key in sorted(expected - {"Axioms"}) if "<none>" not in parts[key]
    ]


def check_again(folder: Path) -> None:
    """Run ``coqchk`` on our files alone: -norec before each, or it would check mathcomp, too."""
    arguments = [part for name in FILES for part in ("-norec", f"kernel.{name}")]
    # With Coq's virtual machine, or what `discrete.v` computes would take hours.
    options = ("-silent", "-o", "-bytecode-compiler", "yes", "-Q", ".", "kernel")
    result = coq(folder, "coqchk", *options, *arguments, seconds=10 * SECONDS)
    if result.returncode:
        raise Refused(f"coqchk refuses a file:\n{result.stdout}{result.stderr}")
    if found := switched_off(result.stdout + result.stderr):
        raise Refused(f"coqchk reports {'; '.join(found)}")
    print("          coqchk agrees", flush=True)


def lines_of(theorem: str, text: str) -> range:
    """The lines of a theorem and its proof, counted from 1."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines, 1) if re.match(rf"Theorem {theorem}\b", line))
    last = next(i for i, line in enumerate(lines, 1) if i >= first and line.endswith("Qed."))
    return range(first, last + 1)


def check_control(folder: Path, name: str, claim: Claim, control: Control) -> None:
    """See that the proof of an altered claim fails, and that it fails there."""
    text = with_claims(name, [control.altered(claim.text)])
    if control.proof_old:
        if control.proof_old not in text:
            raise Refused(
                f"the control of {claim.name} must alter a text of the proof; {control.proof_old!r} is not there"
            )
        text = text.replace(control.proof_old, control.proof_new)
    (folder / "altered.v").write_text(text, encoding="utf-8")
    result = compiled(folder, "altered")
    if not result.returncode:
        raise Refused(f"{claim.name} with {control.new!r} for {control.old!r} is false ({control.why}), but compiles")
    expected = lines_of(claim.theorem, text)
    line = int(re.findall(r"line (\d+), characters", result.stderr)[-1])
    if line not in expected:
        raise Refused(f"the altered {claim.name} must fail in lines {expected}, not in line {line}:\n{result.stderr}")
    if control.refuted:
        if words := GAPS.findall(control.refuted):
            raise Refused(f"the refutation of {claim.name} leaves a gap: {', '.join(words)}")
        (folder / "refuted.v").write_text(refutation(claim, control), encoding="utf-8")
        result = compiled(folder, "refuted")
        if result.returncode or "Closed under the global context" not in result.stdout:
            raise Refused(f"the altered {claim.name} is not proven false:\n{result.stdout}{result.stderr}")
    proven = ", and proven false" if control.refuted else ""
    print(f"          {claim.name} is refused if altered{proven}: {control.why}", flush=True)


def check_controls(folder: Path, wanted: set[str]) -> None:
    """Alter one claim after the other; before that, repeat the claims of each file as they are."""
    stated = claims()
    places = {claim: name for name in PROOFS for claim in theorems(name).values()}
    for name in PROOFS:
        same = [stated[claim].text for claim in theorems(name).values()]
        if wanted & set(theorems(name)):
            (folder / "altered.v").write_text(with_claims(name, same), encoding="utf-8")
            result = compiled(folder, "altered")
            if result.returncode:
                raise Refused(f"{name}.v with its claims repeated does not compile:\n{result.stderr}")
    for control in controls():
        if control.claim.lower() in wanted:
            check_control(folder, places[control.claim], stated[control.claim], control)


def altered_certificates(text: str) -> dict[str, str]:
    """Return a certificate with a change each, for which its first claim is no longer what the integers prove."""

    def scaled(word: str, numerator: int, denominator: int) -> str:
        changed, count = re.subn(
            rf"^({word} )(\d+)",
            lambda found: f"{found[1]}{int(found[2]) * numerator // denominator}",
            text,
            count=1,
            flags=re.MULTILINE,
        )
        if not count:
            raise Refused(f"a certificate must contain {word!r}")
        return changed

    return {
        "a delta that is 1 % smaller": scaled("delta", 99, 100),
        "a threshold that is 1 % smaller": scaled("threshold", 99, 100),
        "one more step of the first kind": re.sub(
            r"^(kind )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}", text, count=1, flags=re.MULTILINE
        ),
        "masses that are 1 % larger": re.sub(
            r"(?<=\n)[\d ]+(?=\n)",
            lambda found: " ".join(str(int(mass) * 101 // 100) for mass in found[0].split()),
            text,
            count=1,
        ),
        "a malformed number": scaled("delta", 1, 1).replace("\ndelta ", "\ndelta -", 1),
    }


def check_extracted(folder: Path) -> None:
    """Build the checker of kernel certificates as a program, and let it read certificates of real runs."""
    place = folder / "extracted"
    built = ran(["sh", str(HERE / "extracted" / "build.sh"), str(place)], folder)
    if built.returncode:
        raise Refused(f"the checker cannot be built as a program:\n{built.stdout}{built.stderr}")
    files = sorted(CERTIFICATES.glob("*.txt"))
    if not files:
        raise Refused(f"{CERTIFICATES} must hold certificates of real runs")
    for file in files:
        text = file.read_text(encoding="ascii")
        answer = ran([str(place / "check_kernel"), str(file)], folder)
        if answer.returncode or "refused" in answer.stdout:
            raise Refused(f"{file.name} is not accepted:\n{answer.stdout}{answer.stderr}")
        print(f"          {file.name} is accepted: {len(text) // 1000} kB", flush=True)
        for change, other in altered_certificates(text).items():
            (folder / "altered.txt").write_text(other, encoding="ascii")
            answer = ran([str(place / "check_kernel"), "altered.txt"], folder)
            wanted = (2, "malformed") if change == "a malformed number" else (1, "refused")
            if answer.returncode != wanted[0] or not answer.stdout.startswith(wanted[1]):
                raise Refused(f"{file.name} with {change} must be {wanted[1]}:\n{answer.stdout}{answer.stderr}")
        print(f"          {file.name} is refused with {', '.join(altered_certificates(text))}", flush=True)


def inside_coq(text: str) -> str:
    """Return a file in which Coq checks the claims of a kernel certificate."""
    words = iter(text.split("\n", 2)[2].split())

    def skip(name: str) -> None:
        if (word := next(words, "")) != name:
            raise Refused(f"a certificate must have {name!r} here, not {word!r}")

    def numbers(name: str, count: int) -> list[str]:
        skip(name)
        return [str(int(next(words))) for _ in range(count)]

    def fraction(name: str) -> str:
        return f"({', '.join(numbers(name, 2))})"

    def kind() -> str:
        count, ratio, infinite = numbers("kind", 1)[0], fraction("ratio"), numbers("infinite", 1)[0]
        masses = [next(words) for _ in range(int(numbers("masses", 1)[0]))]
        return f"({count}%positive, {ratio}, {infinite}, [{'; '.join(masses)}])"

    lines = ["From Coq Require Import NArith List.", f"From kernel Require {PROGRAM} {MACHINE}."]
    lines += ["Import ListNotations.", "Local Open Scope N_scope."]
    for k in range(int(numbers("claims", 1)[0])):
        skip("claim")
        next(words)  # its name
        bits, threshold, factor, delta = (
            numbers("bits", 1)[0],
            fraction("threshold"),
            fraction("factor"),
            fraction("delta"),
        )
        kinds = "; ".join(kind() for _ in range(int(numbers("kinds", 1)[0])))
        lines.append(f"Theorem claim_{k} : {PROGRAM}.accepted {bits} {threshold} {factor} [{kinds}] {delta} = true.")
        lines.append(f"Proof. apply {MACHINE}.same_answer. vm_cast_no_check (@eq_refl bool true). Qed.")
        lines.append(f"Print Assumptions claim_{k}.")
    return "\n".join(lines)


def check_inside(folder: Path) -> None:
    """Let Coq check certificates of real runs, and refuse each with a smaller δ."""
    for name in INSIDE:
        text = (CERTIFICATES / f"{name}.txt").read_text(encoding="ascii")
        (folder / "inside.v").write_text(inside_coq(text), encoding="ascii")
        result = compiled(folder, "inside")
        if result.returncode:
            raise Refused(f"Coq does not accept {name}.txt:\n{result.stdout}{result.stderr[-1000:]}")
        axioms = set(re.findall(r"^([\w.]+)(?=\s*:)", result.stdout, re.MULTILINE)) - {"Axioms"}
        if other := sorted(axiom for axiom in axioms if not MACHINE_AXIOM.fullmatch(axiom)):
            raise Refused(f"the check of {name}.txt rests on {', '.join(other)}")
        smaller = altered_certificates(text)["a delta that is 1 % smaller"]
        (folder / "inside.v").write_text(inside_coq(smaller), encoding="ascii")
        if not compiled(folder, "inside").returncode:
            raise Refused(f"Coq accepts {name}.txt with a delta that is 1 % smaller")
        print(f"          {name}.txt is accepted by Coq, and refused with a smaller delta", flush=True)


def ran(command: list[str], folder: Path, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    try:
        return subprocess.run(command, cwd=folder, timeout=seconds, capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        raise Refused(f"{' '.join(command)} took more than {seconds} seconds") from None


def main(names: list[str]) -> int:
    """Check everything, or the controls of some theorems."""
    only_extracted = names == ["--extracted"]
    names = [] if only_extracted else names
    known = {claim.theorem for claim in claims().values()}
    if unknown := set(names) - known:
        print(
            f"no theorem is called {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}", file=sys.stderr
        )
        return 2
    try:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            if only_extracted:
                check_extracted(folder)
                return 0
            check_files(folder)
            check_theorems(folder)
            if not names:
                check_again(folder)
            check_controls(folder, set(names) or known)
            if not names:
                check_extracted(folder)
                check_inside(folder)
    except Refused as reason:
        print(f"kernel: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
