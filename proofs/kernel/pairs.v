(* Pairs that are made to measure: of a given profile, of several parts, of chains. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Hull.
Variables (R : realFieldType) (n : nat) (r f : nat -> R).
Hypotheses (r0 : r 0%N = 0) (f0 : f 0%N = 1) (fn : 0 <= f n).
Hypothesis rising : forall i, (i < n)%N -> r i < r i.+1.
Local Notation s := (slope n r f).
Hypotheses (steep : -1 <= s 0) (convex : forall i, (i < n)%N -> s i <= s i.+1).

Lemma r_mono i j : (i <= j)%N -> (j <= n)%N -> r i <= r j.
Proof.
elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP [/eqP -> //|]; rewrite ltnS => ij jn.
by apply: le_trans (IH ij (ltnW jn)) (ltW (rising jn)).
Qed.
Lemma r_ge0 i : (i <= n)%N -> 0 <= r i. Proof. by rewrite -r0; apply: r_mono. Qed.
Lemma chord i : (i < n)%N -> f i.+1 = f i + s i * (r i.+1 - r i).
Proof. by move=> h; rewrite /slope h divfK; [rewrite addrC subrK | rewrite subr_eq0 gt_eqF ?rising]. Qed.

(* The Q-mass of the atom with P/Q = r i is the turn of the line there. *)
Definition turn i : R := if i is j.+1 then s i - s j else 1 + s 0.
Lemma turn_ge0 i : (i <= n)%N -> 0 <= turn i.
Proof. by case: i => [|i] h /=; rewrite ?subr_ge0 ?convex // -ler_subl_addl sub0r. Qed.
Definition hull_P (o : option 'I_n.+1) : R := if o is Some i then r i * turn i else f n.
Definition hull_Q (o : option 'I_n.+1) : R := if o is Some i then turn i else 0.

(* The atoms after r i, in place of their positive parts. *)
Definition beyond i a : R := f n + \sum_(i.+1 <= j < n.+1) turn j * (r j - a).
Lemma beyondE d i a : (i + d = n)%N -> beyond i a = f i + s i * (a - r i).
Proof.
elim: d i => [|d IH] i e.
  have -> : i = n by rewrite -e addn0.
  by rewrite /beyond big_geq // /slope ltnn mul0r.
have lt : (i < n)%N by rewrite -e -addSnnS leq_addr.
have := IH i.+1; rewrite addSnnS => /(_ e); rewrite /beyond => h.
rewrite big_ltn ?ltnS // addrCA h (chord lt) /=; ring.
Qed.
Lemma hull_H i a : (i <= n)%N -> r i <= a -> ((i < n)%N -> a <= r i.+1) ->
  H a hull_P hull_Q = f i + s i * (a - r i).
Proof.
move=> le low high; rewrite -(@beyondE (n - i)) ?subnKC // /beyond /H big_option /= mulr0 subr0 pos_id //.
congr (_ + _); rewrite (eq_bigr (fun j : 'I_n.+1 => turn j * pos (r j - a))) => [|j _]; last first.
  by rewrite -posM ?turn_ge0 // -1?ltnS //; congr pos; ring.
rewrite -(big_mkord xpredT (fun j => turn j * pos (r j - a))) (@big_cat_nat _ _ _ i.+1) //= ?ltnS //.
rewrite big_nat big1 ?add0r => [|j /andP [_ ji]]; last first.
  by rewrite pos_0 ?mulr0 // subr_le0 (le_trans _ low) // r_mono // -ltnS.
rewrite [RHS]big_nat [LHS]big_nat; apply: eq_bigr => j /andP [ij jn].
rewrite pos_id // subr_ge0; apply: (@le_trans _ _ (r i.+1)); last exact: r_mono.
by apply: high; apply: leq_trans ij _.
Qed.
Lemma hull_laws : distribution hull_P /\ distribution hull_Q.
Proof.
have Q0 o : 0 <= hull_Q o by case: o => [i|] //=; apply: turn_ge0; rewrite -ltnS.
have P0 o : 0 <= hull_P o by case: o => [i|] //=; rewrite mulr_ge0 ?turn_ge0 ?r_ge0 // -ltnS.
split; split=> //; last first.
  rewrite big_option add0r /= -(big_mkord xpredT turn) big_nat_recl //= telescope_sumr //.
  by rewrite [s n]/slope ltnn; ring.
rewrite -[RHS](_ : H 0 hull_P hull_Q = _).
  by apply: eq_bigr => o _; rewrite mul0r subr0 pos_id.
by rewrite (@hull_H 0%N) ?r0 // => [|h]; [rewrite f0; ring | rewrite -r0 ltW // rising].
Qed.

Lemma segment a : 0 <= a -> exists i, [/\ (i <= n)%N, r i <= a & (i < n)%N -> a <= r i.+1].
Proof.
move=> a0; suff: forall m, (m <= n)%N -> exists i, [/\ (i <= m)%N, r i <= a & (i < m)%N -> a <= r i.+1] by exact.
elim=> [|m IH] mn; first by exists 0%N; rewrite r0.
have [i [im low high]] := IH (ltnW mn).
have [lt|ge] := ltnP i m; first by exists i; split=> // [|_]; [exact: leqW | exact: high].
have e : i = m by apply/eqP; rewrite eqn_leq im ge.
have [up|down] := leP a (r m.+1).
  by exists m; split=> //; rewrite -e.
by exists m.+1; split=> //; [exact: ltW | rewrite ltnn].
Qed.
Lemma hull_dominates (T : finType) (P Q : T -> R) : distribution P -> distribution Q ->
  (forall i, (i <= n)%N -> H (r i) P Q <= f i) -> dominates P Q hull_P hull_Q.
Proof.
move=> lP lQ le a a0; have [_ [_ [decreasing between]]] := shape_of_profiles lP lQ.
have [i [i_n low high]] := segment a0; rewrite (hull_H i_n low high).
have [lt|ge] := ltnP i n; last first.
  by rewrite /slope ltnNge ge mul0r addr0; apply: le_trans (decreasing _ _ low) (le i i_n).
have d0 : 0 < r i.+1 - r i by rewrite subr_gt0 rising.
pose t := (a - r i) / (r i.+1 - r i).
have t0 : 0 <= t by rewrite divr_ge0 ?subr_ge0 // ltW // rising.
have t1 : t <= 1 by rewrite ler_pdivr_mulr // mul1r ler_add2r high.
have -> : a = (1 - t) * r i + t * r i.+1.
  have e : t * (r i.+1 - r i) = a - r i by rewrite divfK // gt_eqF.
  rewrite (_ : (1 - t) * r i + t * r i.+1 = r i + t * (r i.+1 - r i)); last by ring.
  by rewrite e addrC subrK.
apply: le_trans (between _ _ _ t0 t1) _.
apply: (@le_trans _ _ ((1 - t) * f i + t * f i.+1)).
  by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0 // le.
by rewrite le_eqVlt (chord lt); apply/orP; left; apply/eqP; ring.
Qed.
End Hull.

Theorem hull (R : realFieldType) : Hull R.
Proof.
move=> n r f r0 f0 fn rising steep convex.
exists [finType of option 'I_n.+1], (@hull_P R n r f), (@hull_Q R n r f).
have [lP lQ] := hull_laws r0 f0 fn rising steep convex.
split=> //; split=> //; split; first exact: hull_H.
exact: hull_dominates.
Qed.

Section Parts.
Variable R : realFieldType.

Theorem tagged_parts : Tagged_parts R.
Proof.
move=> K T U M M' w v A B le a a0.
apply: (@le_trans _ _ (\sum_k H a (M k) (M' k))).
  rewrite /H exchange_big /=; apply: ler_sum => y _.
  by rewrite mulr_sumr -sumrB; exact: pos_sum.
apply: (@le_trans _ _ (\sum_k H a (fun u => w k * A k u) (fun u => v k * B k u))).
  by apply: ler_sum => k _; exact: le.
rewrite /H (sig_big_dep (fun=> true) (fun _ _ => true)
  (fun k u => pos (w k * A k u - a * (v k * B k u)))) //.
Qed.

Theorem chain : Chain R.
Proof.
move=> T k P a d a0 le; elim: k le => [|k IH] le.
  by rewrite big_ord0 mulr0 /H big1 // => x _; rewrite expr0 mul1r subrr pos_0.
rewrite big_ord_recr /= mulrDr.
apply: (@le_trans _ _ (H (a ^+ k) (P 0%N) (P k) + a ^+ k * H a (P k) (P k.+1))).
  rewrite /H mulr_sumr -big_split; apply: ler_sum => x _ /=; rewrite -posM ?exprn_ge0 //.
  apply: le_trans (posD _ _); apply: pos_mono; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite exprSr; ring.
apply: ler_add; first by apply: IH => i ik; apply: le; exact: leqW.
by rewrite mulrC ler_wpmul2r ?exprn_ge0 // le.
Qed.
End Parts.
