(* Noise on whole numbers: the masses of one step, enclosed, and a number for many steps. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require Import statements profiles composition lattice packing accepted certificate whole_numbers.
From kernel Require checker.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* The program. Powers of (n / d) with the exponent 2^j, rounded down. *)
Definition power_from (bits j n d : N) : checker.binary :=
  iter (nat_of_bin j) (fun y => checker.times_down bits y y) ((n * 2 ^ bits / d)%num, bits).
(* 2^j + x and 2^j - x as fractions of 2^j, for x = n / d; (1 + x / 2^j)^(2^j) and the same with -x, rounded down. *)
Definition exp_down (bits j n d : N) : checker.binary := power_from bits j (d * 2 ^ j + n) (d * 2 ^ j).
Definition exp_minus_down (bits j n d : N) : checker.binary := power_from bits j (d * 2 ^ j - n) (d * 2 ^ j).

Section Exponential.
Variable R : realFieldType.
Notation val := (val R).
Notation two := (two R).
Notation fraction := (fraction R).
Implicit Types x y : R.

Lemma two_nat j : two j = (2 ^ nat_of_bin j)%N%:R. Proof. by rewrite natrX. Qed.
Lemma power_from_le bits j n d : 0 < val d ->
  fraction (power_from bits j n d) <= (val n / val d) ^+ (2 ^ nat_of_bin j).
Proof.
move=> d0; rewrite /power_from; elim: (nat_of_bin j) => [|k IH].
  rewrite expr1 /= fraction_eq ler_pdivr_mulr ?two_gt0 // mulrAC ler_pdivl_mulr // -val_two -!valM.
  apply: val_le; apply/N.leb_le; rewrite N.mul_comm; apply: N.mul_div_le => e; by rewrite e ltxx in d0.
rewrite iterS (le_trans (times_down_le _ _ _ _)) // expnS mul2n -addnn exprD.
by apply: ler_pmul => //; exact: fraction_ge0.
Qed.

Variables (n d j bits : N).
Hypotheses (d0 : 0 < val d) (small : val n < val d * two j).
Let x := val n / val d.
Lemma exp_argument : `|x| < (2 ^ nat_of_bin j)%N%:R /\ `|- x| < (2 ^ nat_of_bin j)%N%:R.
Proof.
rewrite normrN ger0_norm ?divr_ge0 ?val_ge0 ?(ltW d0) //.
by rewrite -two_nat ltr_pdivr_mulr // mulrC.
Qed.
Lemma exp_plus : (1 + x / two j) ^+ (2 ^ nat_of_bin j) >= fraction (exp_down bits j n d).
Proof.
have e : 0 < val (d * 2 ^ j) by rewrite valM val_two mulr_gt0 ?two_gt0.
apply: le_trans (power_from_le _ _ _ e) _; rewrite valD mulrDl divff ?gt_eqF //.
by rewrite valM val_two invfM mulrA.
Qed.
Lemma exp_minus : (1 - x / two j) ^+ (2 ^ nat_of_bin j) >= fraction (exp_minus_down bits j n d).
Proof.
have e : 0 < val (d * 2 ^ j) by rewrite valM val_two mulr_gt0 ?two_gt0.
apply: le_trans (power_from_le _ _ _ e) _; rewrite valB pos_id; last first.
  by rewrite subr_ge0 valM val_two ltW.
by rewrite mulrBl divff ?gt_eqF // valM val_two invfM mulrA.
Qed.
Lemma exp_ge y : exponential x y -> fraction (exp_down bits j n d) <= y.
Proof.
by move=> /(_ _ exp_argument.1) [le _]; apply: le_trans le; rewrite -two_nat exp_plus.
Qed.
Lemma exp_minus_ge y : exponential (- x) y -> fraction (exp_minus_down bits j n d) <= y.
Proof.
move=> /(_ _ exp_argument.2) [le _]; apply: le_trans le; by rewrite -two_nat mulNr exp_minus.
Qed.
Lemma exp_minus_le y : exponential (- x) y -> 0 <= y -> y * fraction (exp_down bits j n d) <= 1.
Proof.
move=> /(_ _ exp_argument.2) [_ le] y0; apply: le_trans le; rewrite -two_nat mulNr opprK.
by rewrite ler_wpmul2l // exp_plus.
Qed.
End Exponential.

Lemma sign_of (y : int) : exists sign : bool, (if sign then y else - y) = `|y|%N%:Z.
Proof. by case: (lerP 0 y) => h; [exists true | exists false]; lia. Qed.
Lemma near_nat (y : int) (D : nat) : `|y| <= D%:Z -> (`|y|%N <= D)%N.
Proof. by lia. Qed.

(* The masses of one step. Noise F x is t^(shape |x|) / Z; Q is the noise, and P the noise moved by D. Place i, less
   than m, is the whole number i - K; it has the level `level i`, less than L, and Q/P = t^(c * level i) / t^e. Numbers
   are multiples of 2^-bits; t is between `low` and `high`. *)
Section Program.
Variables (shape level : nat -> nat) (K D L : nat) (c e : N) (bits b low high : N).
Definition places : seq nat := iota 0 (K + D + K).+1.
Definition apart (k i : nat) : nat := (k - i + (i - k))%N.
Definition moved (i : nat) : nat := shape (apart (K + D) i).
Definition unmoved (i : nat) : nat := shape (apart K i).
Definition one : N := N.shiftl 1 bits.
Definition times_lower (x y : N) : N := N.shiftr (x * y) bits.
Definition raised (times : N -> N -> N) (x n : N) : N := if n is Npos k then checker.power times x k else one.
Definition upper (n : N) : N := raised (checker.times_up bits) high n.
Definition lower (n : N) : N := raised times_lower low n.
Definition whole_mass : N := checker.sum [seq lower (bin_of_nat (unmoved i)) | i <- places].
Definition per_whole (x : N) : N := N.succ (N.shiftl x b / whole_mass).
Definition mass_at (l : nat) : N :=
  per_whole (checker.sum [seq upper (bin_of_nat (moved i)) | i <- places & level i == l]).
Definition outside : N := N.succ (N.shiftl (2 * upper (bin_of_nat (shape K.+1))) bits / (one - high)).
Definition factor : checker.binary := (lower c, bits).
Definition first_ratio : checker.binary := (N.shiftl one bits / upper e, bits)%num.
Definition step_kind (n : positive) : checker.kind :=
  (n, first_ratio, per_whole outside, [seq mass_at l | l <- iota 0 L]).
Definition sound : bool :=
  [&& (0 <? low)%num, (high <? one)%num, (0 <? whole_mass)%num, (0 <? upper e)%num &
      all (fun i => (level i < L)%N && (unmoved i + nat_of_bin e == moved i + nat_of_bin c * level i)%N) places].
End Program.

Section Step.
Variables (R : realFieldType) (shape level : nat -> nat) (K D L : nat) (c e bits b low high : N).
Notation val := (val R).
Notation two := (two R).
Notation fraction := (fraction R).
Notation places := (places K D).
Notation moved := (moved shape K D).
Notation unmoved := (unmoved shape K).
Notation upper := (upper bits high).
Notation lower := (lower bits low).
Notation whole_mass := (whole_mass shape K D bits low).
Notation per_whole := (per_whole shape K D bits b low).
Hypothesis ok : sound shape level K D L c e bits low high.
Variables (t Z : R) (F : int -> R).
Hypotheses (t_low : val low / two bits <= t) (t_high : t <= val high / two bits).
Hypotheses (Z_total : total (fun x => t ^+ shape `|x|%N) Z) (F_noise : forall x, F x = t ^+ shape `|x|%N / Z).
Hypothesis grows : forall k, (shape K.+1 + k <= shape (K.+1 + k))%N.

Let unit_gt0 := two_gt0 R bits.
Lemma val_gt0 n : (0 <? n)%num -> 0 < val n.
Proof.
by case: n => // p _; rewrite /val ltr0n; elim: p => // p IH /=; rewrite NatTrec.doubleE double_gt0.
Qed.
Lemma val_one : val (one bits) = two bits. Proof. by rewrite val_shiftl mul1r. Qed.
Lemma t_gt0 : 0 < t.
Proof. by apply: lt_le_trans t_low; case/and5P: ok => /val_gt0 h *; rewrite divr_gt0. Qed.
Let t0 := ltW t_gt0.
Lemma high_lt : val high < two bits.
Proof.
case/and5P: ok => _ /N.ltb_lt /N.le_succ_l /N.leb_le /(val_le R) h *; rewrite -val_one; apply: lt_le_trans h.
by rewrite -N.add_1_l valD ltr_addr ltr01.
Qed.
Lemma t_lt1 : t < 1.
Proof. by apply: le_lt_trans t_high _; rewrite ltr_pdivr_mulr // mul1r high_lt. Qed.

Lemma upper_ge n : t ^+ nat_of_bin n <= val (upper n) / two bits.
Proof.
case: n => [|n]; first by rewrite val_one divff ?gt_eqF.
apply: (@le_trans _ _ ((val high / two bits) ^+ nat_of_pos n)).
  by apply: ler_expn2r; rewrite // nnegrE ?divr_ge0 ?val_ge0 ?(ltW unit_gt0).
apply: (@power_ge R _ _ (fun x => val x / two bits)) => [y|y y']; last exact: times_up_ge.
by rewrite divr_ge0 ?val_ge0 // ltW.
Qed.
Lemma lower_le n : val (lower n) / two bits <= t ^+ nat_of_bin n.
Proof.
case: n => [|n]; first by rewrite val_one divff ?gt_eqF.
apply: (@le_trans _ _ ((val low / two bits) ^+ nat_of_pos n)); last first.
  by apply: ler_expn2r; rewrite // nnegrE ?divr_ge0 ?val_ge0 ?(ltW unit_gt0).
apply: (@power_le R _ _ (fun x => val x / two bits)) => [y|y y']; first by rewrite divr_ge0 ?val_ge0 // ltW.
rewrite mulf_div -valM invfM mulrA ler_wpmul2r ?invr_ge0 ?(ltW unit_gt0) //.
by rewrite ler_pdivl_mulr // val_shiftr.
Qed.
Lemma val_sum_seq (s : seq N) : val (checker.sum s) = \sum_(x <- s) val x.
Proof. by elim: s => [|x s IH]; rewrite ?big_nil // big_cons -IH -valD. Qed.

(* The whole numbers of the places. *)
Definition number (i : nat) : int := i%:Z - K%:Z.
Definition numbers_of := [seq number i | i <- places].
Lemma uniq_numbers : uniq numbers_of.
Proof. by rewrite map_inj_uniq ?iota_uniq // /number => i j /addIr []. Qed.
Lemma F_moved i : F (number i - D%:Z) = t ^+ moved i / Z.
Proof. by rewrite F_noise; congr (t ^+ shape _ / Z); rewrite /number /apart; lia. Qed.
Lemma F_unmoved i : F (number i) = t ^+ unmoved i / Z.
Proof. by rewrite F_noise; congr (t ^+ shape _ / Z); rewrite /number /apart; lia. Qed.

Lemma whole_mass_le : val whole_mass / two bits <= Z.
Proof.
apply: le_trans (Z_total.1 _ uniq_numbers); rewrite val_sum_seq !big_map mulr_suml; apply: ler_sum => i _.
apply: le_trans (lower_le _) _; rewrite bin_of_natK le_eqVlt; apply/orP; left; apply/eqP.
by congr (t ^+ shape _); rewrite /number /apart; lia.
Qed.
Lemma whole_gt0 : 0 < val whole_mass. Proof. by case/and5P: ok => _ _ /val_gt0. Qed.
Lemma Z_gt0 : 0 < Z.
Proof. by apply: lt_le_trans whole_mass_le; rewrite divr_gt0 // whole_gt0. Qed.
Let Z_ge0 : 0 <= Z^-1. Proof. by rewrite invr_ge0 ltW ?Z_gt0. Qed.

Lemma succ_div_gt n d : 0 < val d -> val n / val d <= val (N.succ (n / d)).
Proof.
move=> d0; rewrite ler_pdivr_mulr // mulrC -valM; apply: val_le; apply/N.leb_le/N.lt_le_incl.
by apply: N.mul_succ_div_gt => z; rewrite z ltxx in d0.
Qed.
Lemma per_whole_ge n (x : R) : 0 <= x -> x <= val n / two bits -> x / Z <= val (per_whole n) / two b.
Proof.
move=> x0 xn; apply: (@le_trans _ _ (val n / val whole_mass)).
  apply: (@le_trans _ _ (val n / two bits / (val whole_mass / two bits))).
    by apply: ler_pmul => //; rewrite lef_pinv ?posrE ?Z_gt0 ?divr_gt0 ?whole_gt0 ?whole_mass_le.
  by rewrite invf_div mulrA divfK ?two_neq0.
rewrite ler_pdivl_mulr ?two_gt0 //; apply: le_trans (succ_div_gt _ whole_gt0).
by rewrite val_shiftl mulrAC.
Qed.

(* Noise is a distribution on the whole numbers. *)
Lemma F_gt0 x : 0 < F x.
Proof. by rewrite F_noise divr_gt0 ?exprn_gt0 ?t_gt0 ?Z_gt0. Qed.
Lemma F_ge0 x : 0 <= F x. Proof. exact: ltW (F_gt0 x). Qed.
Lemma F_sum (s : seq int) : \sum_(x <- s) F x = (\sum_(x <- s) t ^+ shape `|x|%N) / Z.
Proof. by rewrite mulr_suml; apply: eq_bigr => x _; exact: F_noise. Qed.
Lemma F_law : distribution_on_int F.
Proof.
split=> [x|]; first exact: F_ge0.
split=> [s us|Y le]; first by rewrite F_sum ler_pdivr_mulr ?Z_gt0 // mul1r Z_total.1.
suff : Z <= Y * Z by rewrite -{1}[Z]mul1r ler_pmul2r ?Z_gt0.
by apply: Z_total.2 => s us; rewrite -ler_pdivr_mulr ?Z_gt0 // -F_sum le.
Qed.

(* What is outside of the places. *)
Lemma geometric (s : seq nat) : uniq s -> (1 - t) * (\sum_(k <- s) t ^+ k) <= 1.
Proof.
move=> us; pose n := (\max_(k <- s) k).+1.
have le : \sum_(k <- s) t ^+ k <= \sum_(k <- iota 0 n) t ^+ k.
  apply: sum_subset us (iota_uniq 0 n) _ => [k|k ks]; first by rewrite exprn_ge0.
  by rewrite mem_iota /= add0n ltnS /n (big_rem k) //= leq_maxl.
apply: (@le_trans _ _ ((1 - t) * \sum_(k < n) t ^+ k)).
  by rewrite ler_wpmul2l ?subr_ge0 ?(ltW t_lt1) // -(big_mkord xpredT (fun k => t ^+ k)) /index_iota subn0.
rewrite -opprB mulNr -subrX1 opprB ler_subl_addr ler_addl; exact: exprn_ge0.
Qed.
Lemma far (s : seq int) : uniq s -> (forall x, x \in s -> (K < `|x|)%N) ->
  (1 - t) * (\sum_(x <- s) t ^+ shape `|x|%N) <= 2%:R * t ^+ shape K.+1.
Proof.
move=> us out; have t1 : 0 <= 1 - t by rewrite subr_ge0 ltW ?t_lt1.
have side (r : seq int) : uniq r -> {in r &, injective absz} -> (forall x, x \in r -> (K < `|x|)%N) ->
    (1 - t) * (\sum_(x <- r) t ^+ shape `|x|%N) <= t ^+ shape K.+1.
  move=> ur inj outr; pose ks := [seq (`|x| - K.+1)%N | x : int <- r].
  have uks : uniq ks.
    rewrite map_inj_in_uniq // => x y xr yr same; apply: (inj x y xr yr).
    by rewrite -(subnK (outr x xr)) same (subnK (outr y yr)).
  apply: (@le_trans _ _ (t ^+ shape K.+1 * ((1 - t) * \sum_(k <- ks) t ^+ k))); last first.
    by rewrite ler_pimulr ?exprn_ge0 // geometric.
  rewrite mulrCA ler_wpmul2l // big_map mulr_sumr big_seq [X in _ <= X]big_seq; apply: ler_sum => x xr.
  rewrite -exprD ler_wiexpn2l // ?(ltW t_lt1) //.
  have := grows (`|x| - K.+1); have := outr x xr; by move=> h; rewrite subnKC.
rewrite (bigID (fun x : int => 0 <= x)) /= mulrDr mulr_natl mulr2n.
apply: ler_add; rewrite -big_filter; apply: side.
- exact: filter_uniq.
- by move=> x y; rewrite !mem_filter => /andP [x0 _] /andP [y0 _]; move: x0 y0; clear; lia.
- by move=> x; rewrite mem_filter => /andP [_ /out].
- exact: filter_uniq.
- by move=> x y; rewrite !mem_filter => /andP [x0 _] /andP [y0 _]; move: x0 y0; clear; lia.
by move=> x; rewrite mem_filter => /andP [_ /out].
Qed.
Lemma moved_out : 1 - \sum_(i <- places) F (number i - D%:Z) <= val (per_whole (outside shape K bits high)) / two b.
Proof.
have one_high : 0 < val (one bits - high) by rewrite valB val_one pos_id ?subr_gt0 ?subr_ge0 ?high_lt // ltW // high_lt.
pose w x := t ^+ shape `|x|%N; pose s := [seq number i - D%:Z | i <- places].
have us : uniq s by rewrite map_inj_uniq ?iota_uniq // /number => i j /addIr /addIr [].
have tail_ge0 : 0 <= 2%:R * t ^+ shape K.+1 / (1 - t).
  by rewrite divr_ge0 ?mulr_ge0 ?ler0n ?exprn_ge0 // subr_ge0 ltW ?t_lt1.
have rest : Z <= \sum_(x <- s) w x + 2%:R * t ^+ shape K.+1 / (1 - t).
  apply: Z_total.2 => r ur; have w0 x : 0 <= w x by apply: exprn_ge0.
  apply: le_trans (sum_outside w0 ur us) _; rewrite ler_add2l ler_pdivl_mulr ?subr_gt0 ?t_lt1 // mulrC.
  rewrite -big_filter; apply: far; rewrite ?filter_uniq // => x; rewrite mem_filter => /andP [xs _].
  rewrite ltnNge; apply: contra xs => le; apply/mapP; exists (absz (x + K%:Z + D%:Z));
    rewrite /number ?mem_iota; move: le; clear; lia.
have -> : \sum_(i <- places) F (number i - D%:Z) = (\sum_(x <- s) w x) / Z.
  by rewrite -F_sum big_map.
rewrite -(divff (lt0r_neq0 Z_gt0)) -mulrBl.
apply: (@le_trans _ _ (2%:R * t ^+ shape K.+1 / (1 - t) / Z)).
  by rewrite ler_wpmul2r // ler_subl_addl.
apply: per_whole_ge => //; rewrite ler_pdivl_mulr // (le_trans _ (succ_div_gt _ one_high)) //.
rewrite val_shiftl valM valB val_one pos_id ?subr_ge0 ?(ltW high_lt) // [val 2](_ : _ = 2%:R) //.
have := upper_ge (bin_of_nat (shape K.+1)); rewrite bin_of_natK ler_pdivl_mulr // => up.
rewrite mulrAC; apply: (@le_trans _ _ (2%:R * val (upper (bin_of_nat (shape K.+1))) / (1 - t))).
  by rewrite ler_wpmul2r ?invr_ge0 ?subr_ge0 ?(ltW t_lt1) // -mulrA ler_wpmul2l ?ler0n.
rewrite -[X in _ <= X]mulrA ler_wpmul2l ?mulr_ge0 ?val_ge0 ?ler0n //.
rewrite -[X in _ <= X]invf_div lef_pinv ?posrE ?divr_gt0 ?subr_gt0 ?t_lt1 ?high_lt //.
by rewrite mulrBl divff ?gt_eqF // ler_add2l ler_opp2.
Qed.

Hypothesis concave : forall (x : int) (s : nat),
  (shape (absz (x + 1 - s%:Z)%R) + shape (absz x) <= shape (absz (x - s%:Z)%R) + shape (absz (x + 1)%R))%N.
Lemma F_log_concave : log_concave_noise F.
Proof.
split; first exact: F_law.
split=> [x|]; first exact: F_gt0.
split=> [x|x s]; first by rewrite !F_noise abszN.
rewrite !F_noise !mulf_div -!exprD ler_wpmul2r ?invr_ge0 ?mulr_ge0 ?(ltW Z_gt0) //.
by rewrite ler_wiexpn2l // ltW ?t_lt1.
Qed.

(* The pair. The level L takes the Q-mass, and None the P-mass, of what is outside. *)
Definition level_P (k : nat) (o : levels (fun=> L.+1) k) : R := if (o : option 'I_L.+1) is Some j
  then \sum_(i <- places | level i == j) F (number i - D%:Z) else 1 - \sum_(i <- places) F (number i - D%:Z).
Definition level_Q (k : nat) (o : levels (fun=> L.+1) k) : R := if (o : option 'I_L.+1) is Some j
  then \sum_(i <- places | level i == j) F (number i) +
    (if (j : nat) == L then 1 - \sum_(i <- places) F (number i) else 0) else 0.

Lemma sound_at i : i \in places ->
  (level i < L)%N /\ (unmoved i + nat_of_bin e = moved i + nat_of_bin c * level i)%N.
Proof. by case/and5P: ok => _ _ _ _ /allP h /h /andP [? /eqP ?]. Qed.
Lemma by_level (f : nat -> R) :
  \sum_(j < L.+1) \sum_(i <- places | level i == j) f i = \sum_(i <- places) f i.
Proof.
rewrite (eq_bigr (fun j : 'I_L.+1 => \sum_(i <- places) if level i == j then f i else 0)) => [|j _]; last first.
  by rewrite -big_mkcond.
rewrite exchange_big big_seq [RHS]big_seq; apply: eq_bigr => i /sound_at [le _].
have lt : (level i < L.+1)%N by apply: ltnW.
by rewrite /= -big_mkcond (big_pred1 (Ordinal lt)) // => j; rewrite /= eq_sym.
Qed.
Lemma F_places (y : int) : \sum_(i <- places) F (number i - y) <= 1.
Proof.
rewrite -(big_map (fun i => number i - y) xpredT F); apply: F_law.2.1.
by rewrite map_inj_uniq ?iota_uniq // /number => i j /addIr /addIr [].
Qed.
Lemma F_places0 : \sum_(i <- places) F (number i) <= 1.
Proof. by rewrite -(big_map number xpredT F); apply: F_law.2.1; exact: uniq_numbers. Qed.
Lemma level_P_law k : distribution (@level_P k).
Proof.
split=> [[j|]|] /=; first by apply: sumr_ge0 => i _; exact: F_ge0.
  by rewrite subr_ge0 F_places.
by rewrite big_option /= by_level subrK.
Qed.
Lemma level_Q_law k : distribution (@level_Q k).
Proof.
have rest : 0 <= 1 - \sum_(i <- places) F (number i) by rewrite subr_ge0 F_places0.
split=> [[j|]|] //=; first by rewrite addr_ge0 ?sumr_ge0 => // [i _|]; [exact: F_ge0 | case: ifP].
rewrite big_option add0r big_split by_level -big_mkcond (big_pred1 ord_max) //=.
by rewrite addrC subrK.
Qed.

(* The ratio Q/P. *)
Definition ratio_of (l : nat) : R := t ^+ (nat_of_bin c * l) / t ^+ nat_of_bin e.
Lemma F_ratio i : i \in places -> F (number i) = F (number i - D%:Z) * ratio_of (level i).
Proof.
case/sound_at => _ same; rewrite F_moved F_unmoved mulrAC /ratio_of mulrA -exprD -same exprD mulfK //.
by rewrite expf_eq0 (gt_eqF t_gt0) andbF.
Qed.
Lemma level_ratio k (j : 'I_L.+1) : (@level_P k (Some j)) * ratio_of j <= @level_Q k (Some j).
Proof.
apply: ler_paddr; first by case: ifP; rewrite // subr_ge0 F_places0.
rewrite /= mulr_suml le_eqVlt; apply/orP; left; apply/eqP; rewrite big_seq_cond [RHS]big_seq_cond.
by apply: eq_bigr => i /andP [/F_ratio -> /eqP ->].
Qed.
Lemma ratio_ge j : fraction (first_ratio e bits high) * fraction (factor c bits low) ^+ j <= ratio_of j.
Proof.
rewrite /ratio_of mulrC exprM; apply: ler_pmul; rewrite ?exprn_ge0 ?fraction_ge0 //.
  by apply: ler_expn2r; rewrite ?nnegrE ?fraction_ge0 ?exprn_ge0 //; exact: lower_le.
have up0 : 0 < val (upper e) by case/and5P: ok => _ _ _ /val_gt0.
rewrite -[X in _ <= X]mul1r ler_pdivl_mulr ?exprn_gt0 ?t_gt0 // fraction_eq /=.
apply: (@le_trans _ _ (val (N.shiftl (one bits) bits / upper e) / two bits * (val (upper e) / two bits))).
  by rewrite ler_wpmul2l ?divr_ge0 ?val_ge0 ?(ltW unit_gt0) // upper_ge.
rewrite mulf_div -valM ler_pdivr_mulr ?mulr_gt0 // mul1r -[X in _ <= X * _]val_one -val_shiftl.
by apply: val_le; apply/N.leb_le; rewrite N.mul_comm; apply: N.mul_div_le => z; rewrite z ltxx in up0.
Qed.

(* What is outside costs its P-mass. *)
Lemma noise_dominated k (q : R) (E : seq int) : 0 <= q -> uniq E ->
  \sum_(x <- E) (F (x - D%:Z) - q * F x) <= H q (@level_P k) (@level_Q k).
Proof.
move=> q0 uE; pose p x := F (x - D%:Z); pose g x := p x - q * F x.
have p_law : total p 1.
  split=> [s us|Y le].
    rewrite -(big_map (fun x => x - D%:Z) xpredT F); apply: F_law.2.1.
    by rewrite map_inj_uniq // => x y /addIr.
  apply: F_law.2.2 => s us; have := le [seq x + D%:Z | x <- s]; rewrite map_inj_uniq ?big_map => [|x y /addIr //].
  by move=> /(_ us); rewrite /p; under eq_bigr do rewrite addrK.
have p0 x : 0 <= p x by exact: F_ge0.
apply: (@le_trans _ _ (\sum_(x <- numbers_of) pos (g x) + \sum_(x <- E | x \notin numbers_of) p x)).
  apply: (@le_trans _ _ (\sum_(x <- E | x \in numbers_of) pos (g x) + \sum_(x <- E | x \notin numbers_of) p x)).
    rewrite (bigID (fun x => x \in numbers_of)) /=; apply: ler_add; apply: ler_sum => x _; first exact: pos_ge.
    by rewrite ler_subl_addr ler_addl mulr_ge0 ?F_ge0.
  rewrite ler_add2r -[X in X <= _]big_filter; apply: sum_subset => [x|||x]; first exact: pos_ge0.
  - exact: filter_uniq.
  - exact: uniq_numbers.
  by rewrite mem_filter => /andP [].
rewrite {1}/H big_option addrC /= mulr0 subr0 ler_add //.
  rewrite pos_id ?subr_ge0 ?F_places // ler_subr_addl -(big_map number xpredT p).
  by apply: sum_disjoint => //; exact: uniq_numbers.
rewrite big_map -by_level; apply: ler_sum => j _.
have e1 : \sum_(i <- places | level i == j) F (number i) =
    (\sum_(i <- places | level i == j) p (number i)) * ratio_of j.
  rewrite mulr_suml big_seq_cond [RHS]big_seq_cond.
  by apply: eq_bigr => i /andP [/F_ratio -> /eqP ->].
have [jL|jL] := eqVneq (j : nat) L.
  rewrite big_seq_cond big1 ?pos_ge0 // => i /andP [/sound_at [lt _] /eqP same].
  by move: lt; rewrite same jL ltnn.
rewrite addr0 e1; set S := \sum_(i <- _ | _) p _.
have S0 : 0 <= S by apply: sumr_ge0.
have -> : S - q * (S * ratio_of j) = S * (1 - q * ratio_of j) by ring.
rewrite posM // /S mulr_suml big_seq_cond [X in _ <= X]big_seq_cond; apply: ler_sum => i /andP [/F_ratio same /eqP l].
rewrite /g same l -/(p _) -posM //.
have -> : p (number i) - q * (p (number i) * ratio_of j) = p (number i) * (1 - q * ratio_of j) by ring.
exact: lexx.
Qed.

(* The certificate. *)
Variables (n : positive) (k : nat) (a delta : checker.binary) (q d : R).
Hypotheses (nk : nat_of_pos n = k).
Hypothesis accepted : checker.accepted b a (factor c bits low)
  [:: step_kind shape level K D L e bits b low high n] delta.
Hypotheses (aq : fraction a <= q) (dd : fraction delta <= d).
Notation kind0 := (step_kind shape level K D L e bits b low high n).
Lemma level_mass m (j : 'I_L.+1) : @level_P m (Some j) <= fraction (checker.mass kind0 j, b).
Proof.
rewrite /checker.mass /checker.masses /= nth_list.
have [jL|jL] := eqVneq (j : nat) L.
  rewrite big_seq_cond big1 ?fraction_ge0 // => i /andP [/sound_at [lt _] /eqP same].
  by move: lt; rewrite same jL ltnn.
have lt : (j < L)%N by rewrite ltn_neqAle jL -ltnS ltn_ord.
rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n fraction_eq /mass_at.
under eq_bigr do rewrite F_moved.
rewrite -mulr_suml; apply: per_whole_ge; first by apply: sumr_ge0 => i _; rewrite exprn_ge0.
rewrite val_sum_seq big_map big_filter mulr_suml; apply: ler_sum => i _.
by have := upper_ge (bin_of_nat (moved i)); rewrite bin_of_natK.
Qed.
Lemma run_profile : H q (run (fixed level_P) k) (run (fixed level_Q) k) <= d.
Proof.
have [_ [E <-]] := best_event (run (fixed level_P) k) (run (fixed level_Q) k) q.
rewrite ler_subl_addl; apply: le_trans (_ : q * (\sum_(x | E x) run (fixed level_Q) k x) + fraction delta <= _).
  apply: (kernel_certificate accepted (kind_of := fun=> 0%N) _ _ _ level_P_law level_Q_law) => //.
  - have same j s : [seq 0%N | _ <- iota s j] = nseq j 0%N by elim: j s => //= j IH s; rewrite IH.
    by rewrite /= cats0 same nk.
  - exact: fixed_laws level_P_law.
  - exact: fixed_laws level_Q_law.
  - by move=> m h r _; exact: lexx.
  - by move=> m i; exact: level_mass.
  - by move=> m i; apply: le_trans (level_ratio m i); rewrite ler_wpmul2l ?(level_P_law _).1 // ratio_ge.
  by move=> m; exact: moved_out.
by rewrite ler_add2l.
Qed.

Lemma answers_private : private_answers F D k q d.
Proof.
have q0 : 0 <= q by apply: le_trans aq; exact: fraction_ge0.
have shifted (y : int) : distribution_on_int (fun x => F (x - y)).
  split=> [x|]; first exact: F_ge0.
  split=> [s us|Y le].
    by rewrite -(big_map (fun x => x - y) xpredT F); apply: F_law.2.1; rewrite map_inj_uniq // => i j /addIr.
  apply: F_law.2.2 => s us; have := le [seq x + y | x <- s]; rewrite map_inj_uniq ?big_map => [|i j /addIr //].
  by move=> /(_ us); under eq_bigr do rewrite addrK.
move=> f g near N E.
apply: (@whole_number_run R _ _ _ _ _ k q d (fun l => shifted (f l)) (fun l => shifted (g l))
  level_P_law level_Q_law) => //;
  last exact: run_profile.
move=> l r s r0 us; have [sign le] := sign_of (f l - g l).
pose turn (x : int) := if sign then x - g l else g l - x.
have even := F_log_concave.2.2.1.
have turned x : F (x - g l) = F (turn x) by rewrite /turn; case: (sign) => //; rewrite -even opprB.
have moved_by x : F (x - f l) = F (turn x - `|f l - g l|%N%:Z).
  by rewrite -le /turn; case: (sign); [congr F; ring | rewrite -even; congr F; ring].
under eq_bigr do rewrite moved_by turned.
rewrite -(big_map turn xpredT (fun x => F (x - `|f l - g l|%N%:Z) - r * F x)).
apply: (distance_grows F_log_concave (D := D)) => //; first exact: near_nat.
  by move=> S uS; exact: noise_dominated.
by rewrite map_inj_uniq // => x y; rewrite /turn; case: (sign) => [/addIr //|/addrI /oppr_inj].
Qed.
End Step.

(* All that has to be computed: for t = e^-(n/d), noise of that shape on `count` answers and epsilon = n'/d'. The masses
   are multiples of 2^-b, other numbers of 2^-bits, and the exponentials are powers with the exponent 2^j. *)
Section Computed.
Variables (shape level : nat -> nat) (K D L : nat) (c e bits b j n d n' d' : N) (count : positive).
Definition minus_power := exp_minus_down bits j n d.
Definition plus_power := exp_down bits j n d.
Definition low_t : N := (minus_power.1 * 2 ^ bits / 2 ^ minus_power.2)%num.
Definition high_t : N := N.succ (2 ^ (bits + plus_power.2) / plus_power.1).
Definition computed (delta : checker.binary) : bool :=
  [&& (n <? d * 2 ^ j)%num, (n' <? d' * 2 ^ j)%num, (0 <? d)%num, (0 <? d')%num,
      (0 <? plus_power.1)%num, sound shape level K D L c e bits low_t high_t &
      checker.accepted b (exp_down bits j n' d') (factor c bits low_t)
        [:: step_kind shape level K D L e bits b low_t high_t count] delta].

Variables (R : realFieldType) (t q x y delta_bound : R) (F : int -> R) (delta : checker.binary) (k : nat).
Notation val := (val R).
Notation two := (two R).
Hypotheses (grows : forall k, (shape K.+1 + k <= shape (K.+1 + k))%N).
Hypothesis concave : forall (x : int) (s : nat),
  (shape (absz (x + 1 - s%:Z)%R) + shape (absz x) <= shape (absz (x - s%:Z)%R) + shape (absz (x + 1)%R))%N.
Hypothesis ok : computed delta.
Hypotheses (xe : x = val n / val d) (ye : y = val n' / val d').
Hypotheses (te : exponential (- x) t) (noisy : noise t shape F) (qe : exponential y q).
Hypotheses (nk : nat_of_pos count = k) (dd : fraction R delta <= delta_bound).
Lemma val_lt u v : (u <? v)%num -> val u < val v.
Proof.
move=> /N.ltb_lt /N.le_succ_l /N.leb_le /(val_le R) h; apply: lt_le_trans h.
by rewrite -N.add_1_l valD ltr_addr ltr01.
Qed.
Lemma computed_private : private_answers F D k q delta_bound.
Proof.
move: ok => /and5P [/val_lt small /val_lt small' /(@val_gt0 R) d0 /(@val_gt0 R) d0'].
move=> /and3P [/(@val_gt0 R) plus0 sound' accepted'].
move: small small'; rewrite !valM !val_two => small small'.
move: te qe; rewrite xe ye => te' qe'.
have low := exp_minus_ge bits d0 small te'.
have t0 : 0 <= t by apply: le_trans low; exact: fraction_ge0.
have high := exp_minus_le bits d0 small te' t0.
have low' : val low_t / two bits <= t.
  apply: le_trans low; rewrite fraction_eq ler_pdivr_mulr ?two_gt0 // mulrAC ler_pdivl_mulr ?two_gt0 //.
  rewrite -!val_two -!valM; apply: val_le; apply/N.leb_le; rewrite N.mul_comm; apply: N.mul_div_le.
  by apply: N.pow_nonzero.
have high' : t <= val high_t / two bits.
  rewrite ler_pdivl_mulr ?two_gt0 //; apply: le_trans (succ_div_gt _ plus0).
  rewrite ler_pdivl_mulr // val_two twoD [X in _ <= X]mulrC mulrAC ler_wpmul2r ?(ltW (two_gt0 _ _)) //.
  by move: high; rewrite fraction_eq mulrA ler_pdivr_mulr ?two_gt0 // mul1r.
case: noisy => Z Z_total F_noise; have eps := exp_ge bits d0' small' qe'.
exact: (answers_private sound' low' high' Z_total F_noise grows concave nk accepted' eps dd).
Qed.
End Computed.

Lemma squares_grow (K k : nat) : (K.+1 ^ 2 + k <= (K.+1 + k) ^ 2)%N.
Proof.
rewrite sqrnD -addnA leq_add2l; apply: leq_trans (leq_addl _ _).
by apply: leq_trans (leq_pmull _ _) => //; rewrite leq_pmull.
Qed.
Lemma square_of (x : int) : (absz x ^ 2)%N%:Z = x ^+ 2.
Proof. by rewrite -abszX gez0_abs // sqr_ge0. Qed.
Lemma squares_concave (x : int) (s : nat) :
  ((absz (x + 1 - s%:Z)%R) ^ 2 + (absz x) ^ 2 <= (absz (x - s%:Z)%R) ^ 2 + (absz (x + 1)%R) ^ 2)%N.
Proof.
rewrite -lez_nat !PoszD !square_of -subr_ge0.
by rewrite (_ : _ - _ = s%:Z * 2) ?mulr_ge0 //; ring.
Qed.
Lemma lines_concave (x : int) (s : nat) :
  (absz (x + 1 - s%:Z)%R + absz x <= absz (x - s%:Z)%R + absz (x + 1)%R)%N.
Proof. by lia. Qed.
