(* The checker as a program in OCaml. ExtrOcamlZBigInt of Coq maps numbers to the integers of Zarith. *)
From Coq Require Import NArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From kernel Require Import checker.
Extraction "checker.ml" accepted.
