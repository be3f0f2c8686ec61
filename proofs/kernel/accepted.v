(* What the checker of kernel certificates accepts is a bound. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require Import statements profiles composition lattice packing.
From kernel Require checker.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma nth_list (s : seq N) i : List.nth i s 0%num = nth 0%num s i.
Proof. by elim: s i => [|a s IH] [|i] //=. Qed.

Section Numbers.
Variable R : realFieldType.
Notation fraction := (@fraction R).
Definition val (n : N) : R := (nat_of_bin n)%:R.
Lemma valD a b : val (a + b) = val a + val b. Proof. by rewrite /val nat_of_add_bin natrD. Qed.
Lemma valM a b : val (a * b) = val a * val b. Proof. by rewrite /val nat_of_mul_bin natrM. Qed.
Lemma val_ge0 a : 0 <= val a. Proof. exact: ler0n. Qed.
Lemma val_le a b : (a <=? b)%num -> val a <= val b.
Proof. by move=> /N.leb_le h; rewrite -(N.sub_add _ _ h) valD ler_addr val_ge0. Qed.
Lemma valB a b : val (a - b) = pos (val a - val b).
Proof.
case: (N.le_gt_cases b a) => h.
  by rewrite -{2}(N.sub_add _ _ h) valD addrK pos_id // val_ge0.
have /N.sub_0_le -> : (a <= b)%num by apply: N.lt_le_incl.
rewrite pos_0 // subr_le0; apply: val_le; exact/N.leb_le/N.lt_le_incl.
Qed.
Definition poly_of (s : seq N) : {poly R} := Poly (map val s).
Lemma poly_cons a s : poly_of (a :: s) = poly_of s * 'X + (val a)%:P.
Proof. exact: cons_poly_def. Qed.
Lemma poly_add s t : poly_of (add s t) = poly_of s + poly_of t.
Proof.
elim: s t => [|a s IH] [|b t] /=; rewrite ?[poly_of [::]]/= ?add0r ?addr0 //.
by rewrite !poly_cons IH valD polyCD; ring.
Qed.
Lemma poly_scale a t : poly_of (map (N.mul a) t) = (val a)%:P * poly_of t.
Proof.
elim: t => [|b t IH] /=; first by rewrite [poly_of [::]]/= mulr0.
by rewrite !poly_cons IH valM polyCM; ring.
Qed.
Lemma poly_convolve s t : poly_of (convolve s t) = poly_of s * poly_of t.
Proof.
elim: s => [|a s IH] /=; first by rewrite [poly_of [::]]/= mul0r.
by rewrite poly_add poly_scale !poly_cons IH [val 0]/= polyC0; ring.
Qed.
Lemma poly_of_ge0 s i : 0 <= (poly_of s)`_i.
Proof.
rewrite coef_Poly; have [h|h] := ltnP i (size s).
  by rewrite (nth_map 0%num) // val_ge0.
by rewrite nth_default // size_map.
Qed.

Lemma average_list s f : average (poly_of s) f = \sum_(i < size s) val (nth 0%num s i) * f i.
Proof.
rewrite -(@average_wide _ (poly_of s) f (size s)) ?(leq_trans (size_Poly _)) ?size_map //.
by apply: eq_bigr => i _; rewrite coef_Poly (nth_map 0%num).
Qed.

(* Powers of two. *)
Definition two (e : N) : R := 2%:R ^+ nat_of_bin e.
Lemma two_gt0 e : 0 < two e. Proof. by rewrite exprn_gt0 ?ltr0n. Qed.
Lemma two_neq0 e : two e != 0. Proof. by rewrite gt_eqF ?two_gt0. Qed.
Lemma twoD d e : two (d + e) = two d * two e. Proof. by rewrite /two nat_of_add_bin exprD. Qed.
Lemma val1 : val 1 = 1. Proof. by []. Qed.
Lemma val_two e : val (2 ^ e) = two e.
Proof.
elim/N.peano_ind: e => [|e IH]; first by rewrite /two expr0.
by rewrite N.pow_succ_r' valM IH -N.add_1_l twoD /two expr1.
Qed.
Lemma val_shiftl x e : val (N.shiftl x e) = val x * two e.
Proof. by rewrite N.shiftl_mul_pow2 valM val_two. Qed.
Lemma val_shiftr x e : val (N.shiftr x e) * two e <= val x.
Proof. by rewrite -val_two -valM; apply: val_le; apply/N.leb_le; exact: shifted_down. Qed.
Lemma val_sum s : val (checker.sum s) = (poly_of s).[1].
Proof.
by elim: s => [|a s IH]; rewrite ?[poly_of [::]]/= ?horner0 //= valD IH poly_cons !hornerE addrC.
Qed.
Lemma coef_list s i : (poly_of s)`_i = val (nth 0%num s i).
Proof.
rewrite coef_Poly; have [h|h] := ltnP i (size s); first by rewrite (nth_map 0%num).
by rewrite !nth_default ?size_map.
Qed.

(* Binary fractions. *)
Lemma fraction_ge0 x : 0 <= fraction x. Proof. by rewrite divr_ge0 ?ler0n ?exprn_ge0 ?ler0n. Qed.
Lemma fraction_eq x : fraction x = val x.1 / two x.2. Proof. by []. Qed.
Lemma times_down_le bits x y : fraction (checker.times_down bits x y) <= fraction x * fraction y.
Proof.
rewrite !fraction_eq mulf_div -valM -twoD /checker.times_down.
set n := (x.1 * y.1)%num; set e := (x.2 + y.2)%num; set r := N.min e (N.size n - bits).
have e2 : two e = two r * two (e - r) by rewrite -twoD N.add_comm N.sub_add //; exact: N.le_min_l.
rewrite /= e2 invfM mulrA ler_wpmul2r ?invr_ge0 ?(ltW (two_gt0 _)) //.
by rewrite ler_pdivl_mulr ?two_gt0 // val_shiftr.
Qed.
Lemma times_up_ge b x y : val x / two b * (val y / two b) <= val (checker.times_up b x y) / two b.
Proof.
rewrite mulf_div -valM invfM mulrA ler_wpmul2r ?invr_ge0 ?(ltW (two_gt0 _)) //.
rewrite ler_pdivr_mulr ?two_gt0 // -val_two -valM; apply: val_le; apply/N.leb_le; exact: shifted_up.
Qed.

Lemma power_le (T : Type) (times : T -> T -> T) (f : T -> R) x n : (forall y, 0 <= f y) ->
  (forall y y', f (times y y') <= f y * f y') -> f (checker.power times x n) <= f x ^+ nat_of_pos n.
Proof.
move=> f0 le; elim: n => [n IH|n IH|] /=; last by rewrite expr1.
  rewrite NatTrec.doubleE exprS -addnn exprD (le_trans (le _ _)) // ler_wpmul2l // (le_trans (le _ _)) //.
  exact: ler_pmul.
by rewrite NatTrec.doubleE -addnn exprD (le_trans (le _ _)) // ler_pmul.
Qed.
Lemma power_ge (T : Type) (times : T -> T -> T) (f : T -> R) x n : (forall y, 0 <= f y) ->
  (forall y y', f y * f y' <= f (times y y')) -> f x ^+ nat_of_pos n <= f (checker.power times x n).
Proof.
move=> f0 le; elim: n => [n IH|n IH|] /=; last by rewrite expr1.
  rewrite NatTrec.doubleE exprS -addnn exprD (le_trans _ (le _ _)) // ler_wpmul2l // (le_trans _ (le _ _)) //.
  by apply: ler_pmul; rewrite ?exprn_ge0.
by rewrite NatTrec.doubleE -addnn exprD (le_trans _ (le _ _)) // ler_pmul ?exprn_ge0.
Qed.

(* Measures: polynomials. *)
Variable b : N.
Notation unit := ((two b)^-1).
Definition poly_at (x : checker.measure) : {poly R} := 'X^(nat_of_bin x.1) * poly_of x.2.
Definition law_of (x : checker.measure) : {poly R} := unit *: poly_at x.

Lemma unit_gt0 : 0 < unit :> R. Proof. by rewrite invr_gt0 two_gt0. Qed.
Lemma poly_at_ge0 x i : 0 <= (poly_at x)`_i.
Proof. by rewrite coefXnM; case: ifP => // _; exact: poly_of_ge0. Qed.
Lemma law_of_ge0 x i : 0 <= (law_of x)`_i.
Proof. by rewrite coefZ mulr_ge0 ?poly_at_ge0 // ltW ?unit_gt0. Qed.
Lemma first_zeros m s : poly_at (checker.without_first_zeros m s) = poly_at (m, s).
Proof.
elim: s m => [|a s IH] m //=; case: ifP => // a0; rewrite IH /poly_at /= poly_cons.
have -> : a = 0%num by case: a a0.
by rewrite [val 0]/= polyC0 addr0 -N.add_1_l nat_of_add_bin exprD expr1 -mulrA mulrCA [poly_of _ * 'X]mulrC.
Qed.
Lemma last_zeros s : poly_of (checker.without_last_zeros s) = poly_of s.
Proof.
elim: s => [|a s IH] //=; rewrite poly_cons -IH.
case: (checker.without_last_zeros s) => [|c t]; last by rewrite [LHS]poly_cons.
case: ifP => a0; first by rewrite poly_cons.
have -> : a = 0%num by case: a a0.
by rewrite [poly_of [::]]/= mul0r add0r.
Qed.

Lemma convolution_le x y i : (law_of (checker.convolution b x y))`_i <= (law_of x * law_of y)`_i.
Proof.
rewrite /law_of /checker.convolution first_zeros /poly_at [fst _]/= [snd _]/= last_zeros nat_of_add_bin exprD.
rewrite -scalerAl -scalerAr scalerA mulrACA -poly_convolve -exprD.
rewrite !coefZ !coefXnM; case: ifP => _; first by rewrite !mulr0.
rewrite -mulrA ler_wpmul2l ?(ltW unit_gt0) // !coef_list.
set k := (i - _)%N; have -> s : nth 0%num (List.map (N.shiftr^~ b) s) k = N.shiftr (nth 0%num s k) b.
  by elim: s k => [|c s IH] [|k] //=; rewrite ?nth_nil ?N.shiftr_0_l.
rewrite mulrC ler_pdivl_mulr ?two_gt0 // (le_trans (val_shiftr _ _)) // -!nth_list.
case: (product_entries x.2 y.2 k) => -> //; rewrite nth_list nth_nil; exact: val_ge0.
Qed.
Lemma convolution_below x y (p q : {poly R}) : (forall i, (law_of x)`_i <= p`_i) -> (forall i, (law_of y)`_i <= q`_i) ->
  forall i, (law_of (checker.convolution b x y))`_i <= (p * q)`_i.
Proof.
move=> xp yq i; apply: le_trans (convolution_le x y i) _.
by apply: (rounded_down _ _ i).2 => j; split; rewrite ?law_of_ge0.
Qed.
Lemma power_below x (p : {poly R}) n : (forall i, (law_of x)`_i <= p`_i) ->
  forall i, (law_of (checker.power (checker.convolution b) x n))`_i <= (p ^+ nat_of_pos n)`_i.
Proof.
move=> xp; elim: n => [n IH|n IH|] i /=; last by rewrite expr1.
  rewrite NatTrec.doubleE exprS -addnn exprD; apply: convolution_below => // j; exact: convolution_below.
by rewrite NatTrec.doubleE -addnn exprD; apply: convolution_below.
Qed.
Definition law (k : checker.kind) : {poly R} := unit *: poly_of (checker.masses k).
Lemma law_0 k : law_of (0%num, checker.masses k) = law k.
Proof. by rewrite /law_of /poly_at expr0 mul1r. Qed.
Lemma composed_below kinds i : (law_of (checker.composed b kinds))`_i <=
  (\prod_(k <- kinds) law k ^+ nat_of_pos (checker.count k))`_i.
Proof.
elim: kinds i => [|k kinds IH] i; last first.
  rewrite big_cons; apply: convolution_below => //; apply: power_below => j; by rewrite law_0.
have -> : law_of (checker.composed b [::]) = law_of (0%num, [:: N.shiftl 1 b]) by [].
rewrite big_nil /law_of /poly_at expr0 mul1r poly_cons [poly_of [::]]/= mul0r add0r val_shiftl val1 mul1r.
by rewrite -mul_polyC -polyCM mulVf ?two_neq0.
Qed.
Lemma total_mass_ge kinds : (\prod_(k <- kinds) law k ^+ nat_of_pos (checker.count k)).[1] <=
  val (checker.total_mass b kinds) / two b.
Proof.
elim: kinds => [|k kinds IH].
  by rewrite big_nil hornerE -[checker.total_mass b [::]]/(N.shiftl 1 b) val_shiftl val1 mul1r mulfV ?two_neq0.
rewrite big_cons hornerM horner_exp /law hornerZ mulrC -val_sum mulrC /=.
apply: le_trans (times_up_ge _ _ _); apply: ler_pmul => //.
- by rewrite exprn_ge0 // mulr_ge0 ?val_ge0 // ltW ?unit_gt0.
- rewrite horner_prod; apply: prodr_ge0 => j _.
  by rewrite horner_exp exprn_ge0 // hornerZ -val_sum mulr_ge0 ?val_ge0 // ltW ?unit_gt0.
rewrite mulrC; apply: (power_ge (f := fun x => val x / two b)) => [y|y y']; last exact: times_up_ge.
by rewrite divr_ge0 ?val_ge0 // ltW ?two_gt0.
Qed.

(* The threshold, times the ratio at the first level; and the sum over the levels. *)
Variables (a z : checker.binary).
Lemma ratio_at_le kinds m : fraction (checker.ratio_at a z kinds m) <=
  fraction a * (\prod_(k <- kinds) fraction (checker.ratio k) ^+ nat_of_pos (checker.count k)) *
  fraction z ^+ nat_of_bin m.
Proof.
set bits := checker.precision z.
have power_at x n : fraction (checker.power (checker.times_down bits) x n) <= fraction x ^+ nat_of_pos n.
  by apply: power_le => [y|y y']; [exact: fraction_ge0 | exact: times_down_le].
rewrite /checker.ratio_at -/bits; set at_zero := List.fold_right _ _ _.
have le : fraction at_zero <=
    fraction a * \prod_(k <- kinds) fraction (checker.ratio k) ^+ nat_of_pos (checker.count k).
  rewrite /at_zero; elim: kinds {at_zero} => [|k kinds IH]; first by rewrite big_nil mulr1.
  rewrite big_cons mulrCA (le_trans (times_down_le _ _ _)) // ler_pmul ?fraction_ge0 //; exact: power_at.
case: m => [|m]; first by rewrite expr0 mulr1.
by rewrite (le_trans (times_down_le _ _ _)) // ler_pmul ?fraction_ge0 //; exact: power_at.
Qed.

Lemma weighted_ge s y (Y : R) : val y / two z.2 <= Y ->
  \sum_(i < size s) val (nth 0%num s i) * pos (1 - Y * fraction z ^+ i) <= val (checker.weighted z s y) / two z.2.
Proof.
elim: s y Y => [|c s IH] y Y le; first by rewrite big_ord0 mul0r.
have -> : checker.weighted z (c :: s) y = (c * (N.shiftl 1 z.2 - y) +
    checker.weighted z s (N.shiftr (y * z.1) z.2))%num by [].
rewrite big_ord_recl valD mulrDl ler_add //.
  rewrite valM valB val_shiftl val1 mul1r -mulrA ler_wpmul2l ?val_ge0 //.
  rewrite [X in _ <= X]mulrC -posM ?invr_ge0 ?(ltW (two_gt0 _)) // mulrBr mulVf ?two_neq0 //.
  by apply: pos_mono; rewrite expr0 mulr1 ler_add2l ler_opp2 mulrC.
under eq_bigr do rewrite lift0 exprS mulrA; apply: IH.
rewrite fraction_eq mulrA; apply: le_trans (_ : val y / two z.2 * val z.1 / two z.2 <= _); last first.
  rewrite ler_wpmul2r ?invr_ge0 ?(ltW (two_gt0 _)) // ler_wpmul2r //; exact: val_ge0.
by rewrite ler_wpmul2r ?invr_ge0 ?(ltW (two_gt0 _)) // mulrAC -valM ler_pdivl_mulr ?two_gt0 // val_shiftr.
Qed.

Lemma average_shift m (p : {poly R}) f : average ('X^m * p) f = average p (fun i => f (m + i)%N).
Proof. by elim: m f => [|m IH] f; rewrite ?expr0 ?mul1r // exprS -mulrA mulrC averageX IH. Qed.

(* The bound, for any sum over levels that the composed masses bound from below. *)
Lemma bound_ge kinds (Y : R) (w : nat -> R) (p : {poly R}) :
  (forall i, (law_of (checker.composed b kinds))`_i <= p`_i) -> p.[1] <= val (checker.total_mass b kinds) / two b ->
  (forall i, w i <= 1) ->
  (forall i, w (nat_of_bin (checker.composed b kinds).1 + i)%N = pos (1 - Y * fraction z ^+ i)) ->
  fraction (checker.ratio_at a z kinds (checker.composed b kinds).1) <= Y ->
  average p w + val (checker.infinite_mass kinds) / two b <= val (checker.bound b a z kinds) / (two b * two z.2).
Proof.
rewrite /checker.bound; set x := checker.composed b kinds => le mass w1 wY first.
have both i : 0 <= (law_of x)`_i /\ (law_of x)`_i <= p`_i by rewrite law_of_ge0.
have small : (size (law_of x) <= size p)%N.
  apply/leq_sizeP => i long; apply/eqP; rewrite eq_le (both i).1 andbT.
  by apply: le_trans (both i).2 _; rewrite nth_default.
have := missing_mass both w1; rewrite mul1r -/(average p w) (average_wide _ small) => missed.
apply: le_trans (_ : average (law_of x) w + (p.[1] - (law_of x).[1]) + val (checker.infinite_mass kinds) / two b <= _).
  by rewrite ler_add2r.
rewrite invfM mulrA valD mulrDl mulrDl -addrA ler_add //.
  rewrite /law_of /poly_at -mul_polyC averageZ average_shift average_list [_ * unit]mulrC -mulrA.
  rewrite ler_wpmul2l ?(ltW unit_gt0) //.
  under eq_bigr do rewrite wY; apply: weighted_ge; apply: le_trans first.
  rewrite fraction_eq ler_pdivr_mulr ?two_gt0 // mulrAC ler_pdivl_mulr ?two_gt0 //.
  by rewrite (le_trans (val_shiftr _ _)) // val_shiftl.
rewrite val_shiftl mulrAC mulfK ?two_neq0 // valD mulrDl addrC ler_add2l valB.
rewrite -[X in _ <= X]mulrC -posM ?(ltW unit_gt0) // (le_trans _ (pos_ge _)) //.
rewrite mulrBr ler_add // 1?mulrC //.
by rewrite /law_of /poly_at hornerZ hornerM hornerXn expr1n mul1r val_sum mulrC.
Qed.
End Numbers.

(* A product over the steps, by their kinds. *)
Lemma by_kind (V : comRingType) (F : checker.kind -> V) kinds n (kind_of : nat -> nat) :
  perm_eq [seq kind_of t | t <- iota 0 n]
    (flatten [seq nseq (nat_of_pos (checker.count (nth checker.no_kind kinds k))) k | k <- iota 0 (size kinds)]) ->
  \prod_(t < n) F (nth checker.no_kind kinds (kind_of t)) = \prod_(k <- kinds) F k ^+ nat_of_pos (checker.count k).
Proof.
move=> same; pose G k := F (nth checker.no_kind kinds k).
rewrite -(big_mkord xpredT (fun t => G (kind_of t))) /index_iota subn0 -(big_map kind_of xpredT G) (perm_big _ same) /=.
rewrite big_flatten big_map (big_nth checker.no_kind) /index_iota subn0.
by apply: eq_bigr => k _; rewrite big_nseq iter_mulr_1.
Qed.
Lemma sum_by_kind (R : realFieldType) (F : checker.kind -> R) kinds n (kind_of : nat -> nat) :
  perm_eq [seq kind_of t | t <- iota 0 n]
    (flatten [seq nseq (nat_of_pos (checker.count (nth checker.no_kind kinds k))) k | k <- iota 0 (size kinds)]) ->
  \sum_(t < n) F (nth checker.no_kind kinds (kind_of t)) = \sum_(k <- kinds) F k *+ nat_of_pos (checker.count k).
Proof.
move=> same; pose G k := F (nth checker.no_kind kinds k).
rewrite -(big_mkord xpredT (fun t => G (kind_of t))) /index_iota subn0 -(big_map kind_of xpredT G) (perm_big _ same) /=.
rewrite big_flatten big_map (big_nth checker.no_kind) /index_iota subn0.
by apply: eq_bigr => k _; rewrite big_nseq iter_addr_0.
Qed.

Lemma infinite_masses (R : realFieldType) b kinds : val R (checker.infinite_mass kinds) / two R b =
  \sum_(k <- kinds) fraction R (checker.infinite k, b) *+ nat_of_pos (checker.count k).
Proof.
elim: kinds => [|k kinds IH]; first by rewrite big_nil mul0r.
have -> : checker.infinite_mass (k :: kinds) =
  (N.pos (checker.count k) * checker.infinite k + checker.infinite_mass kinds)%num by [].
by rewrite big_cons -IH valD valM mulrDl fraction_eq -mulr_natl mulrA.
Qed.

Theorem kernel_certificate (R : realFieldType) : Kernel_certificate R.
Proof.
move=> b a z delta kinds ok T P Q n kind_of same kind m A B lP lQ lA lB dom up ratio rest e E ae.
have e0 : 0 <= e by apply: le_trans (fraction_ge0 R a) ae.
have run_dom : dominates (run P n) (run Q n) (run (fixed A) n) (run (fixed B) n).
  by apply: adaptive_composition.
apply: (dominated_is_private run_dom e0).
pose p t : {poly R} := law R b (kind t).
have p_at t i : (p t)`_i = fraction R (checker.mass (kind t) i, b).
  by rewrite coefZ coef_list -nth_list mulrC.
have p0 t i : 0 <= (p t)`_i by rewrite p_at fraction_ge0.
have p_up t (i : 'I_(m t)) : A t (Some i) <= (p t)`_i by rewrite p_at.
have z0 := fraction_ge0 R z; have g0 t := fraction_ge0 R (checker.ratio (kind t)).
have := @upper_measure R m A B p (fun t => fraction R (checker.ratio (kind t)))
  (fun t => fraction R (checker.infinite (kind t), b)) (fraction R z) e n lA lB z0 g0 e0 p0 p_up ratio rest.
move/le_trans; apply.
have eqP := by_kind (law R b) same.
have eqG := by_kind (fun k => fraction R (checker.ratio k)) same.
have eqS := sum_by_kind (fun k => fraction R (checker.infinite k, b)) same.
rewrite /p /kind eqP eqG eqS.
set G := \prod_(k <- kinds) fraction R _ ^+ _; set q := \prod_(k <- kinds) law R b k ^+ _.
have G0 : 0 <= G by apply: prodr_ge0 => k _; rewrite exprn_ge0 ?fraction_ge0.
pose w j := pos (1 - e * (G * fraction R z ^+ j)).
have w1 j : w j <= 1 by apply: pos_le; rewrite // ler_subl_addr ler_addl !mulr_ge0 ?exprn_ge0.
set level := nat_of_bin (checker.composed b kinds).1.
have wY i : w (level + i)%N = pos (1 - e * G * fraction R z ^+ level * fraction R z ^+ i).
  by rewrite /w exprD !mulrA.
have first : fraction R (checker.ratio_at a z kinds (checker.composed b kinds).1) <= e * G * fraction R z ^+ level.
  apply: le_trans (ratio_at_le R a z kinds _) _.
  by rewrite ler_wpmul2r ?exprn_ge0 // ler_wpmul2r.
have := bound_ge (composed_below R b kinds) (total_mass_ge R b kinds) w1 wY first.
rewrite infinite_masses => /le_trans; apply.
move: ok; rewrite /checker.accepted => /(val_le R); rewrite !val_shiftl twoD => computed.
by rewrite ler_pdivr_mulr ?mulr_gt0 ?two_gt0 // fraction_eq mulrAC ler_pdivl_mulr ?two_gt0.
Qed.
