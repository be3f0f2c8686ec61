(* Discrete Laplace and discrete Gaussian noise: from the definition of the noise to a number, computed by Coq. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require Import statements accepted certificate masses.
From kernel Require checker.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Numbers.
Variable R : realFieldType.
Notation val := (val R).
Lemma val_exp x n : val (x ^ n) = val x ^+ nat_of_bin n.
Proof.
elim/N.peano_ind: n => [|n IH]; first by rewrite expr0.
by rewrite N.pow_succ_r' valM IH -N.add_1_l nat_of_add_bin exprD expr1.
Qed.
Lemma decimal_le p n : fraction R (below p (10 ^ n)) <= val p / 10%:R ^+ nat_of_bin n.
Proof. by rewrite -[10%:R]/(val 10) -val_exp; apply: below_le; rewrite val_exp exprn_gt0 // /val ltr0n. Qed.
End Numbers.

(* Answers that move by at most D: (epsilon, p / 10^n)-differential privacy; L is the number of levels. *)
Definition gaussian (D L : nat) (c e epsilon p n : N) : bool :=
  computed (fun x => x ^ 2)%N id 32 D L c e 80 40 32 1 32 epsilon 1 16 (below p (10 ^ n)).
Definition laplace (D L : nat) (c e epsilon p n : N) : bool :=
  computed id (fun i => minn (i - 260) D) 260 D L c e 80 40 32 1 10 epsilon 1 100 (below p (10 ^ n)).

Section Answers.
Variables (R : realFieldType) (F : int -> R) (t q : R) (D L : nat) (c e epsilon p n : N).
Notation val := (val R).
Hypothesis qe : exponential (val epsilon) q.
Let bound := decimal_le R p n.
Let one_of : val epsilon = val epsilon / val 1. Proof. by rewrite divr1. Qed.
Lemma gaussian_answers : gaussian D L c e epsilon p n -> exponential (- (1 / 32%:R)) t ->
  noise t (fun x => x ^ 2)%N F -> private_answers F D 16 q (val p / 10%:R ^+ nat_of_bin n).
Proof.
move=> ok te noisy; have rate : 1 / 32%:R = val 1 / val 32 by [].
have grows k : ((fun x => x ^ 2) 33 + k <= (fun x => x ^ 2) (33 + k))%N by exact: squares_grow.
have sixteen : nat_of_pos 16 = 16%N by [].
exact (computed_private (shape := fun x => (x ^ 2)%N) (K := 32%N) grows squares_concave ok rate one_of te noisy qe
  sixteen bound).
Qed.
Lemma laplace_answers : laplace D L c e epsilon p n -> exponential (- (1 / 10%:R)) t -> noise t id F ->
  private_answers F D 100 q (val p / 10%:R ^+ nat_of_bin n).
Proof.
move=> ok te noisy; have rate : 1 / 10%:R = val 1 / val 10 by [].
have grows k : (id 261 + k <= id (261 + k))%N by [].
have hundred : nat_of_pos 100 = 100%N by [].
exact (computed_private (shape := id) (K := 260%N) grows lines_concave ok rate one_of te noisy qe hundred bound).
Qed.
End Answers.

Theorem discrete_gaussians (R : realFieldType) : Discrete_gaussians R.
Proof.
have removed : gaussian 1 66 2 65 4 47 6 by vm_cast_no_check (erefl true).
have replaced : gaussian 2 67 4 132 10 99 7 by vm_cast_no_check (erefl true).
move=> F t te noisy; split=> q qe; first exact (@gaussian_answers R F t q 1 _ _ _ 4 _ 6 qe removed te noisy).
exact (@gaussian_answers R F t q 2 _ _ _ 10 _ 7 qe replaced te noisy).
Qed.

Theorem discrete_laplaces (R : realFieldType) : Discrete_laplaces R.
Proof.
have removed : laplace 1 2 2 1 4 345 7 by vm_cast_no_check (erefl true).
have replaced : laplace 2 3 2 2 8 243 6 by vm_cast_no_check (erefl true).
move=> F t te noisy; split=> q qe; first exact (@laplace_answers R F t q 1 _ _ _ 4 _ 7 qe removed te noisy).
exact (@laplace_answers R F t q 2 _ _ _ 8 _ 6 qe replaced te noisy).
Qed.
