(* Batches of a fixed size: in every relation one record takes the place of another in one slot. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* How the numbers of batches with and without one record compare. *)
Lemma share_without (R : fieldType) (b n c c' : R) : n != 0 -> c != 0 -> c' != 0 ->
  n * c = (n - b) * c' -> (1 - b / n) / c = c'^-1.
Proof.
move=> n0 c0 c'0 h; have e : n - b = n * c / c' by rewrite h mulfK.
rewrite (_ : 1 - b / n = (n - b) / n); last by field.
by rewrite e; field; apply/and3P.
Qed.
Lemma share_with (R : fieldType) (b n c c' : R) : n != 0 -> c != 0 -> c' != 0 ->
  n * c = b * c' -> (b / n) / c = c'^-1.
Proof.
move=> n0 c0 c'0 h; have e : b = n * c / c' by rewrite h mulfK.
by rewrite e; field; apply/and3P.
Qed.

Lemma count_batches (R : realFieldType) (I : finType) (D : {set I}) (b : nat) (c : R) :
  \sum_(S : {set I} | (S \subset D) && (#|S| == b)) c = 'C(#|D|, b)%:R * c.
Proof.
have e : #|[pred S : {set I} | (S \subset D) && (#|S| == b)]| = 'C(#|D|, b).
  by rewrite -cards_draws; apply: eq_card => S; rewrite !inE.
by rewrite sumr_const e mulr_natl.
Qed.

Section Slots.
Variables (R : realFieldType) (I : finType) (D : {set I}) (k : nat).
Hypothesis kD : (k < #|D|)%N.
Implicit Types (S : {set I}) (j x : I).
Local Notation m := #|D|.
Local Notation size_is n S := ((S \subset D) && (#|S| == n)).

(* Take k records and one more, in all ways: each set of k+1 records is met once for each of its elements. *)
Lemma sum_slots (F : {set I} -> R) :
  \sum_(S : {set I} | size_is k S) \sum_(j in D :\: S) F (j |: S) = k.+1%:R * \sum_(S : {set I} | size_is k.+1 S) F S.
Proof.
have -> : k.+1%:R * (\sum_(S : {set I} | size_is k.+1 S) F S) = \sum_(S : {set I} | size_is k.+1 S) \sum_(j in S) F S.
  rewrite mulr_sumr; apply: eq_bigr => S /andP [_ /eqP e].
  by rewrite sumr_const e mulr_natl.
rewrite (exchange_big_dep (mem D)) /= => [|S j _]; last by rewrite inE => /andP [].
rewrite [RHS](exchange_big_dep (mem D)) /= => [|S j /andP [/subsetP sub _]]; last exact: sub.
apply: eq_bigr => j jD.
rewrite [RHS](reindex_onto (fun S => j |: S) (fun S => S :\ j)) /= => [|S /andP [_ jS]]; last exact: setD1K.
apply: eq_bigl => S; rewrite !inE jD eqxx andbT /= andbT.
have [jS|jS] := boolP (j \in S); rewrite ?andbF ?andbT.
  by symmetry; apply/negbTE; rewrite negb_and orbC; apply/orP; left; apply/eqP => e; move: jS; rewrite -e setD11.
by rewrite setU1K // eqxx andbT cardsU1 jS add1n eqSS subUset sub1set jD.
Qed.

Definition ways : R := (m - k)%:R * 'C(m, k)%:R.
Lemma m_k : (m - k)%:R != 0 :> R. Proof. by rewrite pnatr_eq0 -lt0n subn_gt0. Qed.
Lemma bin_k : 'C(m, k)%:R != 0 :> R. Proof. by rewrite pnatr_eq0 -lt0n bin_gt0 ltnW. Qed.
Lemma ways_neq0 : ways != 0. Proof. by rewrite mulf_neq0 ?m_k ?bin_k. Qed.
Lemma ways_ge0 : 0 <= ways. Proof. by rewrite mulr_ge0 ?ler0n. Qed.
Lemma waysE : ways = k.+1%:R * 'C(m, k.+1)%:R. Proof. by rewrite /ways -!natrM mul_bin_left. Qed.

(* k records of D and one more, uniformly. *)
Definition slot (p : {set I} * I) : R := if size_is k p.1 && (p.2 \in D :\: p.1) then ways^-1 else 0.
Lemma sum_slot (G : {set I} -> I -> R) :
  \sum_p slot p * G p.1 p.2 = \sum_(S : {set I} | size_is k S) \sum_(j in D :\: S) G S j / ways.
Proof.
rewrite pair_big_dep [RHS]big_mkcond /=; apply: eq_bigr => p _; rewrite /slot.
by case: ifP; rewrite ?mul0r // mulrC.
Qed.
(* ... of which the one more is forgotten, or taken with the others. *)
Lemma sum_slot_fst (F : {set I} -> R) :
  \sum_p slot p * F p.1 = (\sum_(S : {set I} | size_is k S) F S) / 'C(m, k)%:R.
Proof.
rewrite (sum_slot (fun S _ => F S)) mulr_suml; apply: eq_bigr => S /andP [sub /eqP e].
rewrite sumr_const cardsD (setIidPr sub) e -mulr_natl /ways.
by field; rewrite m_k bin_k.
Qed.
Lemma sum_slot_both (F : {set I} -> R) :
  \sum_p slot p * F (p.2 |: p.1) = (\sum_(S : {set I} | size_is k.+1 S) F S) / 'C(m, k.+1)%:R.
Proof.
rewrite (sum_slot (fun S j => F (j |: S))) waysE.
under eq_bigr do rewrite -mulr_suml.
by rewrite -mulr_suml sum_slots -mulf_div divff ?mul1r // pnatr_eq0.
Qed.
Lemma slot_law : distribution slot.
Proof.
split=> [p|]; first by rewrite /slot; case: ifP; rewrite ?invr_ge0 ?ways_ge0.
have := sum_slot_fst (fun=> 1); under eq_bigr do rewrite mulr1; move=> ->.
by rewrite count_batches mulr1 divff ?bin_k.
Qed.
Lemma slot_in p : 0 < slot p -> [/\ p.1 \subset D, #|p.1| = k, p.2 \in D & p.2 \notin p.1].
Proof.
rewrite /slot inE; case: ifP; rewrite ?ltxx // => /andP [/andP [sub /eqP e] /andP [j1 j2]] _; by split.
Qed.

Variables (T : finType) (M : {set I} -> T -> R).
Lemma batch_without : fixed_size k.+1 M D =1 mixture slot (fun p => M (p.2 |: p.1)).
Proof. by move=> y; rewrite /mixture (sum_slot_both (fun S => M S y)) mulr_suml. Qed.
Local Notation share := (k.+1%:R / m.+1%:R).
Lemma batch_split x y : x \notin D -> fixed_size k.+1 M (x |: D) y =
  (1 - share) * fixed_size k.+1 M D y + share * fixed_size k (fun S => M (x |: S)) D y.
Proof.
move=> xD; rewrite /fixed_size cardsU1 xD add1n.
have n0 : m.+1%:R != 0 :> R by rewrite pnatr_eq0.
have c0 : 'C(m.+1, k.+1)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0 ltnS ltnW.
have c1 : 'C(m, k.+1)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0.
rewrite -!mulr_suml big_mkcondr split_subsets // big_split /= [LHS]mulrDl; congr (_ + _).
  rewrite -big_mkcondr -(share_without (b := k.+1%:R) n0 c1 c0); last first.
    by rewrite -natrB ?(leqW kD) // -!natrM -mul_bin_down.
  by rewrite mulrA mulrAC mulrC.
rewrite -big_mkcondr (eq_bigl (fun S : {set I} => size_is k S)) => [|S]; last first.
  by apply: andb_id2l => sub; rewrite cardsU1 (subset_notin xD sub).
rewrite -(share_with (b := k.+1%:R) n0 bin_k c0); last by rewrite -!natrM mul_bin_diag.
by rewrite mulrA mulrAC mulrC.
Qed.
Lemma batch_with x : x \notin D ->
  fixed_size k.+1 M (x |: D) =1 mixture slot (fun p => blend share (M (x |: p.1)) (M (p.2 |: p.1))).
Proof.
move=> xD y; rewrite batch_split // batch_without /mixture /fixed_size -mulr_suml.
rewrite -(sum_slot_fst (fun S => M (x |: S) y)) !mulr_sumr -big_split.
by apply: eq_bigr => p _; rewrite /blend /=; ring.
Qed.
End Slots.

Section Theorems.
Variable R : realFieldType.

Lemma fixed_size_law (I T : finType) b (M : {set I} -> T -> R) (D : {set I}) :
  (b <= #|D|)%N -> (forall S, distribution (M S)) -> distribution (fixed_size b M D).
Proof.
move=> bD lM; split=> [y|].
  by apply: sumr_ge0 => S _; rewrite divr_ge0 ?ler0n ?(lM S).1.
rewrite exchange_big /= (eq_bigr (fun=> 'C(#|D|, b)%:R^-1)) => [|S _]; last by rewrite -mulr_suml (lM S).2 mul1r.
have c0 : 'C(#|D|, b)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0.
by rewrite count_batches mulfV.
Qed.

(* b of n records: a share q of the batches holds a given one. *)
Lemma share_bounds k m : (k < m)%N -> let q := k.+1%:R / m.+1%:R : R in 0 < q /\ q <= 1.
Proof.
by move=> km; split; rewrite ?divr_gt0 ?ltr0Sn // ler_pdivr_mulr ?ltr0Sn // mul1r ler_nat ltnS ltnW.
Qed.

Theorem fixed_size_removed : Fixed_size_removed R.
Proof.
move=> I T U [|k] M A B D x //= kD xD lM lA lB dom; have [q0 q1] := share_bounds kD.
have lwith : distribution (fixed_size k.+1 M (x |: D)).
  by apply: fixed_size_law => //; rewrite cardsU1 xD ltnW // ltnS.
have lwithout : distribution (fixed_size k.+1 M D) by apply: fixed_size_law.
have removed : dominates (fixed_size k.+1 M (x |: D)) (fixed_size k.+1 M D) (blend (k.+1%:R / #|D|.+1%:R) A B) B.
  apply: dominates_eq (batch_with kD M xD) (batch_without D k M) (frefl _) (frefl _) _.
  apply: draws_revealed => [|[S j] /slot_in [/= sub e jD jS]]; first exact: slot_law.
  by apply: blend_dominated => //; [exact: ltW | apply: dom; rewrite ?e].
by split=> //; apply: swapped => //; apply: blend_law; rewrite ?(ltW q0).
Qed.

Theorem fixed_size_replaced : Fixed_size_replaced R.
Proof.
move=> I T [|k] a h M D x x' //= kD a1 xD xD'; have [q0 q1] := share_bounds kD; cbv zeta => le.
rewrite (H_eq a (batch_with kD M xD) (batch_with kD M xD')).
apply: mixture_le => [|[S j] /slot_in [/= sub e jD jS]]; first exact: slot_law.
have := advanced_bound q0 q1 a1 (le S j sub _ jS) (le S x' sub _ (subset_notin xD' sub)).
rewrite e => /(_ erefl erefl) /le_trans; apply; rewrite ler_pmul2l //.
by rewrite -mulrDl subrK mul1r.
Qed.

Lemma zeroed_identity (q a c k u v w : R) : q != 0 -> c != 0 -> k = (a - 1) * (1 - q) / q ->
  (1 - q) * u + q * v - a * ((1 - q) * u + q * w) = q * (v - (a + k / c) * w + k / c * (w - c * u)).
Proof. by move=> q0 c0 ->; field; rewrite q0 c0. Qed.
Theorem fixed_size_zeroed : Fixed_size_zeroed R.
Proof.
move=> I T [|m] a c h g M D x null //= kD a1 c0 xD nD; have [q0 q1] := share_bounds kD.
set q := _ / _; set k := _ / q => le_h le_g.
rewrite (H_eq a (batch_with kD M xD) (batch_with kD M nD)).
apply: mixture_le => [|[S j] /slot_in [/= sub e jD jS]]; first exact: slot_law.
have k0 : 0 <= k by rewrite divr_ge0 ?(ltW q0) // mulr_ge0 ?subr_ge0.
have kc0 : 0 <= k / c by rewrite divr_ge0 ?(ltW c0).
have le1 := le_h S sub (congr1 succn e); have le2 := le_g S j sub (congr1 succn e) jS.
apply: (@le_trans _ _ (q * (H (a + k / c) (M (x |: S)) (M (null |: S)) + k / c * H c (M (null |: S)) (M (j |: S))))).
  rewrite /H mulr_sumr -big_split mulr_sumr; apply: ler_sum => y _ /=.
  rewrite /blend (zeroed_identity _ _ _ (lt0r_neq0 q0) (lt0r_neq0 c0) (erefl k)) posM ?(ltW q0) //.
  by rewrite ler_pmul2l // -posM //; exact: posD.
by rewrite ler_pmul2l // ler_add // ler_wpmul2l.
Qed.
End Theorems.
