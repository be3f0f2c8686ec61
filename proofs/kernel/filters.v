(* Filters: steps whose cost depends on the outputs before, within a budget that is fixed in advance. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Filters.
Variable R : realFieldType.

(* One outcome's share of the moment. *)
Definition share (l : nat) (p q : R) : R := q * (p / q) ^+ l.
Lemma share_ge0 l p q : 0 <= p -> 0 <= q -> 0 <= share l p q.
Proof. by move=> p0 q0; rewrite mulr_ge0 ?exprn_ge0 ?divr_ge0. Qed.
Lemma shareM l p q p' q' : share l (p * p') (q * q') = share l p q * share l p' q'.
Proof. by rewrite /share invfM mulrACA exprMn mulrACA. Qed.

Section Run.
Variables (T : nat -> finType) (P Q : steps R T) (b : forall n, history T n -> R) (l : nat).
Hypotheses (lP : distributions P) (lQ : distributions Q) (b0 : forall m h, 0 < @b m h).
Hypothesis moments : forall m h, moment l (@P m h) (@Q m h) <= @b m h.

Lemma spent_gt0 n (h : history T n) : 0 < spent b h.
Proof. by elim: n h => [|n IH] h /=; rewrite ?ltr01 // mulr_gt0. Qed.
(* The supermartingale of the proof on paper, on average. *)
Lemma supermartingale n : \sum_(h : history T n) share l (run P n h) (run Q n h) / spent b h <= 1.
Proof.
elim: n => [|n IH]; first by rewrite sum_unit /share /= !divr1 expr1n mulr1.
rewrite sum_last; apply: le_trans IH; apply: ler_sum => h _ /=.
have s0 : 0 <= share l (run P n h) (run Q n h) / spent b h.
  by rewrite divr_ge0 ?(ltW (spent_gt0 h)) // share_ge0 // (run_law n _).1.
rewrite (eq_bigr (fun y => share l (run P n h) (run Q n h) / spent b h * (share l (P h y) (Q h y) / b h))); last first.
  by move=> y _; rewrite shareM invfM mulrACA.
rewrite -mulr_sumr -mulr_suml ler_pimulr // ler_pdivr_mulr // mul1r; exact: moments.
Qed.
End Run.

Lemma run_vanishes (T : nat -> finType) (P Q : steps R T) n :
  (forall m h, vanishes_with (P m h) (Q m h)) -> vanishes_with (run P n) (run Q n).
Proof.
move=> both; elim: n => [|n IH] h /=; first by move/eqP; rewrite oner_eq0.
by move/eqP; rewrite mulf_eq0 => /orP [/eqP /IH ->|/eqP /both ->]; rewrite ?mul0r ?mulr0.
Qed.
Lemma some_history (T : nat -> finType) (P : steps R T) n : distributions P -> exists h : history T n, true.
Proof.
move=> lP; have [h _|no] := pickP (fun _ : history T n => true); first by exists h.
by have := (run_law n lP).2; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
Qed.

Theorem filter : Filter R.
Proof.
move=> T P Q b l n C lP lQ both b0 le budget; split; first exact: run_vanishes.
have C0 : 0 <= C by have [h _] := some_history n lP; apply: le_trans (budget h); apply/ltW/spent_gt0.
rewrite -[C]mulr1; apply: le_trans (ler_wpmul2l C0 (supermartingale lP lQ b0 le n)).
rewrite mulr_sumr; apply: ler_sum => h _; rewrite -/(share l (run P n h) (run Q n h)).
rewrite mulrA ler_pdivl_mulr ?spent_gt0 // mulrC ler_wpmul2r ?budget //.
by rewrite share_ge0 ?(run_law n _).1.
Qed.

Lemma bernoulli (u : R) n : 0 <= u -> 1 + n%:R * (u - 1) <= u ^+ n.
Proof.
move=> u0; elim: n => [|n IH]; first by rewrite mul0r addr0 expr0.
rewrite exprS; apply: le_trans (ler_wpmul2l u0 IH); rewrite -subr_ge0.
rewrite (_ : _ - _ = n%:R * (u - 1) ^+ 2); first by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
by rewrite -[n.+1]addn1 natrD; ring.
Qed.
Lemma regroup (x u v w : R) : x * u * v / w = x * (u / w * v).
Proof. by rewrite -!mulrA [v / w]mulrC. Qed.
Lemma regroup_powers (v a q w : R) : a != 0 -> w != 0 -> v / (a * w) * (a * q) = q * v / w.
Proof. by move=> a0 w0; field; rewrite a0 w0. Qed.
(* r - 1 <= c r^(l+2), with equality at r = (l+2)/(l+1). *)
Lemma order_bound (r : R) l : 0 <= r -> r - 1 <= l.+1%:R ^+ l.+1 / l.+2%:R ^+ l.+2 * r ^+ l.+2.
Proof.
move=> r0; have m0 : 0 < l.+1%:R :> R by rewrite ltr0Sn.
have k0 : 0 < l.+2%:R :> R by rewrite ltr0Sn.
have := @bernoulli (l.+1%:R * r / l.+2%:R) l.+2; rewrite divr_ge0 ?mulr_ge0 ?(ltW m0) ?(ltW k0) // => /(_ isT) le.
rewrite -(ler_pmul2l m0) (_ : l.+1%:R * (r - 1) = 1 + l.+2%:R * (l.+1%:R * r / l.+2%:R - 1)).
  apply: le_trans le _; rewrite expr_div_n exprMn [l.+1%:R ^+ l.+2]exprS le_eqVlt; apply/orP; left; apply/eqP.
  exact: regroup.
rewrite mulrBr [l.+2%:R * (_ / _)]mulrC divfK ?gt_eqF // -[l.+2]addn1 natrD; ring.
Qed.
Lemma share_bound (p q a : R) l : 0 <= p -> 0 <= q -> (q = 0 -> p = 0) -> 0 < a ->
  pos (p - a * q) <= l.+1%:R ^+ l.+1 / l.+2%:R ^+ l.+2 * (share l.+2 p q / a ^+ l.+1).
Proof.
move=> p0 q0 both a0; apply: pos_le; last first.
  by rewrite mulr_ge0 ?divr_ge0 ?exprn_ge0 ?ler0n ?share_ge0 ?(ltW a0).
move: q0; rewrite le_eqVlt => /orP [/eqP e|q0].
  by rewrite both // -e /share mulr0 subr0 mul0r mul0r mulr0.
have aq0 : 0 < a * q by rewrite mulr_gt0.
have := @order_bound (p / (a * q)) l; rewrite divr_ge0 ?(ltW aq0) // => /(_ isT) le.
have -> : p - a * q = (p / (a * q) - 1) * (a * q) by rewrite mulrBl mul1r divfK ?gt_eqF.
apply: le_trans (ler_wpmul2r (ltW aq0) le) _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
have e : (p / (a * q)) ^+ l.+2 = (p / q) ^+ l.+2 / (a * a ^+ l.+1).
  by rewrite -exprS -expr_div_n; congr (_ ^+ _); rewrite invfM mulrA mulrAC.
rewrite e /share; move: (_ ^+ l.+1 / _ ^+ l.+2) => c.
rewrite -[LHS]mulrA; congr (c * _); apply: regroup_powers; rewrite ?expf_neq0 ?gt_eqF //.
Qed.

Theorem moment_to_profile : Moment_to_profile R.
Proof.
move=> T P Q l a [P0 _] [Q0 _] both a0; rewrite /H /moment mulr_suml mulr_sumr; apply: ler_sum => x _.
by apply: share_bound => //; exact: both.
Qed.

Theorem filter_of_several_orders : Filter_of_several_orders R.
Proof.
move=> K T P Q b l n C d a lP lQ both a0 d0 b0 le small budget.
pose X k (h : history T n) := share (l k).+2 (run P n h) (run Q n h) / spent (b k) h.
have X0 k h : 0 <= X k h by rewrite divr_ge0 ?share_ge0 ?(run_law n _).1 // ltW // spent_gt0.
pose c k : R := (l k).+1%:R ^+ (l k).+1 / (l k).+2%:R ^+ (l k).+2.
have c0 k : 0 <= c k by rewrite divr_ge0 ?exprn_ge0 ?ler0n.
(* At each history, the order that it kept. *)
have bound h : pos (run P n h - a * run Q n h) <= \sum_k d k * X k h.
  have [k le_C] := budget h; rewrite (bigD1 k) //= ler_paddr ?sumr_ge0 // => [i _|]; first by rewrite mulr_ge0.
  have [P0 Q0] := ((run_law n lP).1 h, (run_law n lQ).1 h).
  apply: le_trans (share_bound (l k) P0 Q0 (@run_vanishes _ _ _ n both h) a0) _.
  apply: (@le_trans _ _ (c k * (C k / a ^+ (l k).+1) * X k h)); last by rewrite ler_wpmul2r ?small.
  rewrite -/(c k) -[X in _ <= X]mulrA ler_wpmul2l // [X in _ <= X]mulrAC ler_wpmul2r ?invr_ge0 ?exprn_ge0 ?(ltW a0) //.
  rewrite /X [X in _ <= X]mulrA ler_pdivl_mulr ?spent_gt0 // [X in X <= _]mulrC.
  by rewrite ler_wpmul2r // share_ge0.
apply: le_trans (ler_sum _ (fun h _ => bound h)) _; rewrite exchange_big; apply: ler_sum => k _ /=.
by rewrite -mulr_sumr ler_pimulr //; apply: supermartingale.
Qed.
End Filters.
