(* The lattice from both sides: spreading, measures as polynomials, tilting, rounding. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem spread (R : realFieldType) : Spread R.
Proof.
move=> T U P Q K y K0 KP KQ A a a0; rewrite /H.
apply: (@le_trans _ _ (\sum_x \sum_u pos (K x u - a * (K x u * y u)))).
  apply: ler_sum => x _; apply: le_trans (pos_sum _ _ _); apply: pos_mono.
  by rewrite sumrB -mulr_sumr KP ler_add2l ler_opp2 ler_wpmul2l.
rewrite exchange_big /=; apply: ler_sum => u _.
have e (v : R) : v - a * (v * y u) = v * (1 - a * y u) by ring.
under eq_bigr do rewrite e posM //.
by rewrite e posM ?sumr_ge0 // mulr_suml.
Qed.

(* The average of a function of the level. *)
Section Averages.
Variable R : realFieldType.
Implicit Types (p q : {poly R}) (f : nat -> R).
Definition average p f : R := \sum_(i < size p) p`_i * f i.

Lemma average_wide p f n : (size p <= n)%N -> \sum_(i < n) p`_i * f i = average p f.
Proof.
move=> le; rewrite /average -!(big_mkord xpredT (fun i => p`_i * f i)) (big_cat_nat _ _ _ _ le) //=.
rewrite [X in _ + X]big_nat [X in _ + X]big1 ?addr0 // => i /andP [h _].
by rewrite nth_default ?mul0r.
Qed.
Lemma averageD p q f : average (p + q) f = average p f + average q f.
Proof.
rewrite -(@average_wide (p + q) f (maxn (size p) (size q))) ?size_add //.
rewrite -(@average_wide p f (maxn (size p) (size q))) ?leq_maxl //.
rewrite -(@average_wide q f (maxn (size p) (size q))) ?leq_maxr // -big_split.
by apply: eq_bigr => i _; rewrite coefD mulrDl.
Qed.
Lemma averageZ c p f : average (c%:P * p) f = c * average p f.
Proof.
rewrite -(@average_wide (c%:P * p) f (size p)) ?mul_polyC ?size_scale_leq // /average mulr_sumr.
by apply: eq_bigr => i _; rewrite coefZ mulrA.
Qed.
Lemma averageX p f : average (p * 'X) f = average p (fun i => f i.+1).
Proof.
rewrite -(@average_wide (p * 'X) f (size p).+1) ?size_mulX_leq //; last first.
  by have [->|p0] := eqVneq p 0; rewrite ?mul0r ?size_poly0 // size_mulX.
rewrite big_ord_recl coefMX mul0r add0r; apply: eq_bigr => i _.
by rewrite coefMX /bump.
Qed.
Lemma average0 f : average 0 f = 0. Proof. by rewrite /average size_poly0 big_ord0. Qed.
Lemma average1 f : average 1 f = f 0%N.
Proof. by rewrite /average size_poly1 big_ord1 coef1 mul1r. Qed.
Lemma averageM p q f : average (p * q) f = average p (fun i => average q (fun j => f (i + j)%N)).
Proof.
elim/poly_ind: p f => [|p c IH] f; first by rewrite mul0r !average0.
rewrite mulrDl mulrAC averageD averageX averageZ IH averageD averageX; congr (_ + _).
by rewrite -[c%:P]mulr1 averageZ average1.
Qed.
Lemma average_le p f f' : (forall i, 0 <= p`_i) -> (forall i, f i <= f' i) -> average p f <= average p f'.
Proof. by move=> p0 le; apply: ler_sum => i _; apply: ler_wpmul2l. Qed.
Lemma average_ge0 p f : (forall i, 0 <= p`_i) -> (forall i, 0 <= f i) -> 0 <= average p f.
Proof. by move=> p0 f0; apply: sumr_ge0 => i _; rewrite mulr_ge0. Qed.
Lemma average_ge p f n : (forall i, 0 <= p`_i) -> (forall i, 0 <= f i) -> \sum_(i < n) p`_i * f i <= average p f.
Proof.
move=> p0 f0; rewrite -(@average_wide p f (maxn (size p) n)) ?leq_maxl //.
rewrite -!(big_mkord xpredT (fun i => p`_i * f i)) [X in _ <= X](big_cat_nat _ _ _ _ (leq_maxr (size p) n)) //=.
by rewrite ler_addl sumr_ge0 // => i _; rewrite mulr_ge0.
Qed.
End Averages.

Section Measures.
Variables (R : realFieldType) (m : nat -> nat).
Local Notation U := (levels m).
Variables (A B : forall t, U t -> R) (p : nat -> {poly R}) (g : nat -> R) (z : R).
Hypotheses (lA : forall t, distribution (@A t)) (lB : forall t, distribution (@B t)).
Hypotheses (z0 : 0 <= z) (g0 : forall t, 0 <= g t).
Hypothesis p0 : forall t i, 0 <= (p t)`_i.
Implicit Type t : nat.
Local Notation rA n := (run (fixed A) n).
Local Notation rB n := (run (fixed B) n).
Local Notation P n := (\prod_(t < n) p t).
Local Notation G n := (\prod_(t < n) g t).

(* The level of a history: the sum of the levels of its steps, if none of them is in the rest. *)
Fixpoint level n : history U n -> option nat :=
  if n is k.+1 then fun h => match @level k h.1, (h.2 : option 'I_(m k)) with
    | Some j, Some i => Some (i + j)%N | _, _ => None end
  else fun=> Some 0%N.
Definition at_level (c : R) (f : nat -> R) (l : option nat) := if l is Some k then f k else c.

Lemma P_ge0 n j : 0 <= (P n)`_j.
Proof.
elim: n j => [|n IH] j; first by rewrite big_ord0 coef1 ler0n.
by rewrite big_ord_recr coefM; apply: sumr_ge0 => i _; rewrite mulr_ge0.
Qed.
Lemma G_ge0 n : 0 <= G n. Proof. by apply: prodr_ge0. Qed.
Lemma rA_law n : distribution (rA n). Proof. exact: run_law (fixed_laws lA). Qed.
Lemma rB_law n : distribution (rB n). Proof. exact: run_law (fixed_laws lB). Qed.

Lemma shuffle (u a c d v w : R) : u * a * (c * d * (v * w)) = u * (c * w) * (a * (d * v)).
Proof. by ring. Qed.

(* The last step, by its level. *)
Lemma last_level n c f : \sum_h rA n.+1 h * at_level c f (level h) =
  @A n None * c + \sum_(i < m n) @A n (Some i) * \sum_h rA n h * at_level c (fun j => f (i + j)%N) (level h).
Proof.
rewrite sum_last exchange_big big_option /=; congr (_ + _).
  rewrite -[RHS]mul1r -(rA_law n).2 mulr_suml; apply: eq_bigr => h _.
  by case: (level h) => [j|] /=; rewrite /fixed; ring.
apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => h _.
by rewrite /fixed -mulrA mulrCA; congr (_ * (_ * _)); case: (level h).
Qed.

Lemma upper_average n (rest : nat -> R) f : (forall t (i : 'I_(m t)), @A t (Some i) <= (p t)`_i) ->
  (forall t, @A t None <= rest t) -> (forall k, 0 <= f k) ->
  \sum_h rA n h * at_level 1 f (level h) <= average (P n) f + \sum_(t < n) rest t.
Proof.
move=> up le; elim: n f => [|n IH] f f0.
  by rewrite sum_unit /= mul1r !big_ord0 addr0 average1.
have rest0 : 0 <= \sum_(t < n) rest t.
  by apply: sumr_ge0 => t _; apply: le_trans (le t); exact: (lA t).1.
rewrite last_level mulr1 [\sum_(t < n.+1) _]big_ord_recr /= big_ord_recr /= [_ * p n]mulrC averageM.
rewrite addrC addrA ler_add ?(le n) //.
apply: (@le_trans _ _ (\sum_(i < m n) ((p n)`_i * average (P n) (fun j => f (i + j)%N)
    + @A n (Some i) * \sum_(t < n) rest t))).
  apply: ler_sum => i _; apply: (@le_trans _ _ (@A n (Some i) *
    (average (P n) (fun j => f (i + j)%N) + \sum_(t < n) rest t))).
    by apply: ler_wpmul2l; [exact: (lA n).1 | exact: IH].
  rewrite mulrDr ler_add2r; apply: ler_wpmul2r; last exact: up.
  by apply: average_ge0 => // j; exact: P_ge0.
rewrite big_split ler_add //.
  apply: (@average_ge _ (p n) (fun i => average (P n) (fun j => f (i + j)%N))) => // i.
  by apply: average_ge0 => // j; exact: P_ge0.
rewrite -mulr_suml ler_pimull // -(lA n).2 big_option ler_addr; exact: (lA n).1.
Qed.

Lemma upper_ratio n (h : history U n) k :
  (forall t (i : 'I_(m t)), @A t (Some i) * (g t * z ^+ i) <= @B t (Some i)) ->
  level h = Some k -> rA n h * (G n * z ^+ k) <= rB n h.
Proof.
move=> ratio; elim: n h k => [|n IH] h k /=; first by case=> <-; rewrite big_ord0 expr0 !mulr1.
case: h => h [i|] /=; last by case: (level h).
case e: (level h) => [j|] // [<-]; rewrite big_ord_recr /= /fixed.
rewrite exprD shuffle; apply: ler_pmul; rewrite ?mulr_ge0 ?exprn_ge0 ?G_ge0 ?(rA_law n).1 ?(lA n).1 //; exact: IH.
Qed.
Lemma lower_ratio n (h : history U n) k :
  (forall t (i : 'I_(m t)), @B t (Some i) <= @A t (Some i) * (g t * z ^+ i)) ->
  level h = Some k -> rB n h <= rA n h * (G n * z ^+ k).
Proof.
move=> ratio; elim: n h k => [|n IH] h k /=; first by case=> <-; rewrite big_ord0 expr0 !mulr1.
case: h => h [i|] /=; last by case: (level h).
case e: (level h) => [j|] // [<-]; rewrite big_ord_recr /= /fixed.
rewrite exprD shuffle; apply: ler_pmul; rewrite ?(rB_law n).1 ?(lB n).1 //; exact: IH.
Qed.

Lemma lower_average n f :
  (forall t (i : 'I_(m t)), (p t)`_i <= @A t (Some i)) -> (forall t, (size (p t) <= m t)%N) ->
  (forall k, 0 <= f k) -> average (P n) f <= \sum_h rA n h * at_level 0 f (level h).
Proof.
move=> low wide; elim: n f => [|n IH] f f0; first by rewrite sum_unit /= mul1r big_ord0 average1.
rewrite last_level mulr0 add0r big_ord_recr /= [_ * p n]mulrC averageM -(average_wide _ (wide n)).
apply: ler_sum => i _; apply: (@le_trans _ _ (@A n (Some i) * average (P n) (fun j => f (i + j)%N))).
  by apply: ler_wpmul2r; [apply: average_ge0 => // j; exact: P_ge0 | exact: low].
by apply: ler_wpmul2l; [exact: (lA n).1 | exact: IH].
Qed.

Lemma upper a n rest : 0 <= a ->
  (forall t (i : 'I_(m t)), @A t (Some i) <= (p t)`_i) ->
  (forall t (i : 'I_(m t)), @A t (Some i) * (g t * z ^+ i) <= @B t (Some i)) ->
  (forall t, @A t None <= rest t) ->
  H a (rA n) (rB n) <= lattice_profile a (G n) z (P n) + \sum_(t < n) rest t.
Proof.
move=> a0 up ratio le; apply: le_trans (upper_average n up le (fun k => pos_ge0 (1 - a * (G n * z ^+ k)))).
apply: ler_sum => h _; have [A0 B0] := ((rA_law n).1 h, (rB_law n).1 h).
case e: (level h) => [k|] /=; last first.
  by rewrite mulr1; apply: pos_le; rewrite // ler_subl_addr ler_addl mulr_ge0.
by rewrite -posM //; apply: pos_mono; rewrite mulrBr mulr1 ler_add2l ler_opp2 mulrCA ler_wpmul2l // upper_ratio.
Qed.
Lemma lower a n : 0 <= a ->
  (forall t, (size (p t) <= m t)%N) ->
  (forall t (i : 'I_(m t)), (p t)`_i <= @A t (Some i)) ->
  (forall t (i : 'I_(m t)), @B t (Some i) <= @A t (Some i) * (g t * z ^+ i)) ->
  lattice_profile a (G n) z (P n) <= H a (rA n) (rB n).
Proof.
move=> a0 wide low ratio; apply: le_trans (lower_average n low wide (fun k => pos_ge0 (1 - a * (G n * z ^+ k)))) _.
apply: ler_sum => h _; have [A0 B0] := ((rA_law n).1 h, (rB_law n).1 h).
case e: (level h) => [k|] /=; last by rewrite mulr0 pos_ge0.
by rewrite -posM //; apply: pos_mono; rewrite mulrBr mulr1 ler_add2l ler_opp2 mulrCA ler_wpmul2l // lower_ratio.
Qed.
End Measures.

Section Theorems.
Variable R : realFieldType.

Theorem upper_measure : Upper_measure R.
Proof. by move=> m A B p g rest z a n lA lB z0 g0 a0 p0 up ratio le; apply: upper. Qed.
Theorem lower_measure : Lower_measure R.
Proof. by move=> m A B p g z a n lA lB z0 g0 a0 p0 wide low ratio; apply: lower. Qed.

Lemma shuffle_tilts (x u a c v b : R) : x * u * a * (c * v * b) = x * c * (u * v) * (a * b).
Proof. by ring. Qed.
Theorem tilt : Tilt R.
Proof.
move=> p q c w n e; elim: n => [|n IH] j.
  by rewrite !big_ord0 !coef1 mul1r; case: j => [|j]; rewrite ?expr0 ?mulr0 ?mul1r.
rewrite !big_ord_recr /= !coefM mulr_sumr; apply: eq_bigr => i _.
have -> : w ^+ j = w ^+ i * w ^+ (j - i) by rewrite -exprD subnKC // -ltnS.
by rewrite IH e; exact: shuffle_tilts.
Qed.

Theorem rounded_down : Rounded_down R.
Proof.
move=> p p' q q' hp hq j; rewrite !coefM; split.
  by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?(hp i).1 ?(hq _).1.
by apply: ler_sum => i _; apply: ler_pmul; rewrite ?(hp i).1 ?(hq _).1 ?(hp i).2 ?(hq _).2.
Qed.

Lemma missing (p c w W : R) : c * w + W * (p - c) - p * w = (W - w) * (p - c).
Proof. by ring. Qed.
Theorem missing_mass : Missing_mass R.
Proof.
move=> p c w W hc hw.
have small : (size c <= size p)%N.
  apply/leq_sizeP => i le; apply/eqP; rewrite eq_le (hc i).1 andbT.
  by apply: le_trans (hc i).2 _; rewrite nth_default.
have mass (q : {poly R}) : (size q <= size p)%N -> q.[1] = \sum_(j < size p) q`_j.
  by move=> le; rewrite (horner_coef_wide _ le); apply: eq_bigr => j _; rewrite expr1n mulr1.
rewrite !mass // -sumrB mulr_sumr -big_split; apply: ler_sum => j _ /=.
rewrite -subr_ge0 missing.
by rewrite mulr_ge0 // subr_ge0 ?hw ?(hc j).2.
Qed.
Theorem total_mass : Total_mass R.
Proof. by move=> p n; rewrite horner_prod. Qed.
End Theorems.
