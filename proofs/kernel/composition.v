(* Adaptive composition of any number of steps. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Composition.
Variable R : realFieldType.

(* One step after another, and two that ignore each other. *)
Definition after (T U : finType) (P : T -> R) (K : T -> U -> R) : T * U -> R := fun z => P z.1 * K z.1 z.2.

Lemma after_law (T U : finType) (P : T -> R) (K : T -> U -> R) :
  distribution P -> (forall x, distribution (K x)) -> distribution (after P K).
Proof.
move=> lP lK; split=> [z|]; first by rewrite mulr_ge0 ?lP.1 ?(lK _).1.
rewrite -(pair_bigA _ (fun x y => P x * K x y)) -[RHS]lP.2 /=.
by apply: eq_bigr => x _; rewrite -mulr_sumr (lK x).2 mulr1.
Qed.

Lemma two_steps (T1 T2 U1 U2 : finType) (P1 Q1 : T1 -> R) (P2 Q2 : T1 -> T2 -> R)
    (A1 B1 : U1 -> R) (A2 B2 : U2 -> R) :
  distribution P1 -> distribution Q1 -> (forall x, distribution (P2 x)) -> (forall x, distribution (Q2 x)) ->
  distribution A1 -> distribution B1 -> distribution A2 -> distribution B2 ->
  dominates P1 Q1 A1 B1 -> (forall x, dominates (P2 x) (Q2 x) A2 B2) ->
  dominates (after P1 P2) (after Q1 Q2) (after A1 (fun=> A2)) (after B1 (fun=> B2)).
Proof.
move=> lP1 lQ1 lP2 lQ2 lA1 lB1 lA2 lB2 d1 d2 a a0; rewrite /H.
rewrite -(pair_bigA _ (fun x y => pos (P1 x * P2 x y - a * (Q1 x * Q2 x y)))) /=.
rewrite -(pair_bigA _ (fun u v => pos (A1 u * A2 v - a * (B1 u * B2 v)))) /=.
apply: (@le_trans _ _ (\sum_x \sum_v pos (P1 x * A2 v - a * (Q1 x * B2 v)))).
  apply: ler_sum => x _.
  under eq_bigr do rewrite mulrA -mulNr.
  under [X in _ <= X]eq_bigr do rewrite mulrA -mulNr.
  exact: dominates_combined (lP2 x) (lQ2 x) lA2 lB2 (d2 x) (lP1.1 x).
rewrite exchange_big [X in _ <= X]exchange_big; apply: ler_sum => v _ /=.
under eq_bigr do rewrite mulrC (mulrC (Q1 _)) mulrA -mulNr.
under [X in _ <= X]eq_bigr do rewrite mulrC (mulrC (B1 _)) mulrA -mulNr.
exact: dominates_combined lP1 lQ1 lA1 lB1 d1 (lA2.1 v).
Qed.

Lemma sum_unit (F : unit -> R) : \sum_h F h = F tt.
Proof. by rewrite (big_pred1 tt) // => -[]. Qed.

Lemma run_law (T : nat -> finType) (P : steps R T) n : distributions P -> distribution (run P n).
Proof.
move=> lP; elim: n => [|n IH]; last exact: (after_law IH (lP n)).
by split=> [x|]; [exact: ler01 | rewrite sum_unit].
Qed.
Lemma fixed_laws (U : nat -> finType) (A : forall n, U n -> R) :
  (forall n, distribution (A n)) -> distributions (fixed A).
Proof. by move=> lA n h; exact: lA. Qed.

(* The last step of a run as a sum of its own. *)
Lemma sum_last (T : nat -> finType) n (F : history T n.+1 -> R) :
  \sum_(h : history T n.+1) F h = \sum_(h : history T n) \sum_(y : T n) F (h, y).
Proof. by rewrite (pair_bigA _ (fun h y => F (h, y))); apply: eq_bigr => -[]. Qed.

Theorem adaptive_composition : Adaptive_composition R.
Proof.
move=> T U P Q A B n lP lQ lA lB dom; elim: n => [|n IH]; first by move=> a _; rewrite /H !sum_unit.
apply: (@two_steps _ _ _ _ _ _ (@P n) (@Q n) _ _ (@A n) (@B n)) => //.
- exact: run_law.
- exact: run_law.
- exact: (run_law n (fixed_laws lA)).
- exact: (run_law n (fixed_laws lB)).
Qed.

(* Randomised response that tells the truth with probability 9/10, on a Poisson sample of rate 3/4. *)
Section Thresholds.
Let n (k : nat) : R := k%:R / 10%:R.
Let two (x y : nat) (b : bool) : R := if b then n x else n y.
Let ten : (10%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let twenty : (20%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Lemma two_distribution x y : (x + y = 10)%N -> distribution (two x y).
Proof.
move=> e; split=> [b|]; first by rewrite /two; case: b; rewrite divr_ge0 ?ler0n.
by rewrite big_bool /= -mulrDl -natrD e divff.
Qed.
Lemma two_H a x y x' y' :
  H a (two x y) (two x' y') = (pos (x%:R - a * x'%:R) + pos (y%:R - a * y'%:R)) / 10%:R.
Proof.
have ten0 : 0 <= (10%:R : R)^-1 by rewrite invr_ge0 ler0n.
rewrite /H big_bool /= mulrDl ![_ / 10%:R]mulrC -!posM // /n.
by congr (pos _ + pos _); ring.
Qed.
Lemma pos_nat (x y : nat) : pos (x%:R - y%:R) = (x - y)%:R :> R.
Proof.
have [yx|/ltnW xy] := leqP y x; first by rewrite -natrB // pos_id ?ler0n.
by rewrite pos_0 ?subr_le0 ?ler_nat // (eqP xy).
Qed.
Theorem every_threshold_counts : Every_threshold_counts R.
Proof.
exists (two 1 9), (two 7 3), (two 7 3), (two 1 9).
split; first by split; apply: two_distribution.
split=> [a a1|].
  rewrite !two_H ler_pmul2r ?invr_gt0 ?ltr0n //.
  have p1 : pos (1%:R - a * 7%:R) = 0.
    by rewrite pos_0 // subr_le0; apply: (le_trans a1); rewrite ler_pemulr ?ler1n // (le_trans ler01 a1).
  rewrite p1 add0r; apply: pos_le; last by rewrite addr_ge0 ?pos_ge0.
  apply: (@le_trans _ _ (7%:R - a * 1%:R)); last by rewrite ler_paddr ?pos_ge0 ?pos_ge.
  rewrite -subr_ge0 (_ : 7%:R - a * 1%:R - _ = 2%:R * (a - 1)); last by rewrite mulr1n mulr1; ring.
  by rewrite mulr_ge0 ?ler0n ?subr_ge0.
set twice := fun (S : bool -> R) (z : bool * bool) => S z.1 * S z.2.
have sum4 (F : bool * bool -> R) : \sum_z F z = F (true, true) + F (true, false) + (F (false, true) + F (false, false)).
  rewrite (eq_bigr (fun z => F (z.1, z.2))) => [|[] //].
  by rewrite -(pair_bigA _ (fun x y => F (x, y))) /= !big_bool.
pose t : R := 10%:R^-1 * 20%:R^-1 * 10%:R^-1.
have t0 : 0 < t by rewrite !mulr_gt0 ?invr_gt0 ?ltr0n.
have scaled x y x' y' (b c : bool) : twice (two x y) (b, c) - 47%:R / 20%:R * twice (two x' y') (b, c) =
    t * ((20 * ((if b then x else y) * (if c then x else y)))%:R
       - (47 * ((if b then x' else y') * (if c then x' else y')))%:R).
  by rewrite /twice /two /n /t !natrM; case: b; case: c => /=; field; rewrite ?ten ?twenty.
rewrite /H !sum4 !scaled /= !posM ?(ltW t0) // -!mulrDr ltr_pmul2l //.
by rewrite !pos_nat -!natrD ltr_nat.
Qed.
End Thresholds.
End Composition.
