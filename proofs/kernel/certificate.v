(* A certificate: Coq composes ten steps in integers, and concludes for every event. *)
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require Import statements profiles composition sampling lattice packing.
From Coq Require Import NArith.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Measures as lists of binary natural numbers, and what is computed of them. *)
Definition convolved (s : seq N) n := iter n (convolve s) [:: 1%num].
Definition power (x : N) k := iter k (N.mul x) 1%num.
Fixpoint total (s : seq N) (f : nat -> N) : N :=
  if s is a :: s' then (a * f 0%nat + total s' (fun i => f i.+1))%num else 0%num.

(* Is the sum of c_k (1 - a g^n z^k)_+ / D^n at most d? Numbers are fractions, as an/ad for a. *)
Definition at_most n (c : seq N) (D an ad gn gd zn zd dn dd : N) : bool :=
  let m := (ad * (power gd n * power zd (size c)))%num in
  [&& (0 <? ad)%num, (0 <? gd)%num, (0 <? zd)%num, (0 <? dd)%num, (0 <? D)%num &
  (total c (fun k => m - an * (power gn n * (power zn k * power zd (size c - k)%nat))) * dd
    <=? dn * m * power D n)%num].

Section Values.
Variable R : realFieldType.
Definition val (n : N) : R := (nat_of_bin n)%:R.
Lemma valD a b : val (a + b) = val a + val b. Proof. by rewrite /val nat_of_add_bin natrD. Qed.
Lemma valM a b : val (a * b) = val a * val b. Proof. by rewrite /val nat_of_mul_bin natrM. Qed.
Lemma val_ge0 a : 0 <= val a. Proof. exact: ler0n. Qed.
Lemma val_le a b : (a <=? b)%num -> val a <= val b.
Proof. by move=> /N.leb_le h; rewrite -(N.sub_add _ _ h) valD ler_addr val_ge0. Qed.
Lemma val_gt0 x : (0 <? x)%num -> 0 < val x.
Proof.
move=> /N.ltb_lt h; rewrite /val ltr0n lt0n; apply/eqP => e.
by have := nat_of_binK x; rewrite e => E; move: h; rewrite -E.
Qed.
Lemma valB a b : val (a - b) = pos (val a - val b).
Proof.
case: (N.le_gt_cases b a) => h.
  by rewrite -{2}(N.sub_add _ _ h) valD addrK pos_id // val_ge0.
have /N.sub_0_le -> : (a <= b)%num by apply: N.lt_le_incl.
rewrite pos_0 // subr_le0; apply: val_le; exact/N.leb_le/N.lt_le_incl.
Qed.
Lemma val_power x k : val (power x k) = val x ^+ k.
Proof. by elim: k => //= k IH; rewrite valM IH exprS. Qed.

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
Lemma poly_convolved s n : poly_of (convolved s n) = poly_of s ^+ n.
Proof.
elim: n => [|n IH]; last by rewrite exprS -IH -poly_convolve.
by rewrite poly_cons [poly_of [::]]/= mul0r add0r expr0.
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
Lemma average_total s f : val (total s f) = average (poly_of s) (fun i => val (f i)).
Proof.
rewrite average_list; elim: s f => [|a s IH] f /=; first by rewrite big_ord0.
by rewrite valD valM IH big_ord_recl.
Qed.

Lemma fractions (x y u v p q r : R) : y != 0 -> v != 0 -> q != 0 ->
  x * (u * (p * r)) = y * (v * (q * r)) * (x / y * (u / v * (p / q))).
Proof. by move=> *; field; apply/and3P. Qed.
Lemma at_most_sound n c D an ad gn gd zn zd dn dd : at_most n c D an ad gn gd zn zd dn dd ->
  lattice_profile (val an / val ad) ((val gn / val gd) ^+ n) (val zn / val zd) (poly_of c) <=
  val dn / val dd * val D ^+ n.
Proof.
case/and5P=> /val_gt0 ad0 /val_gt0 gd0 /val_gt0 zd0 /val_gt0 dd0 /andP [/val_gt0 D0 /val_le].
set m := (ad * _)%num.
have m0 : 0 < val m by rewrite !valM !val_power !mulr_gt0 ?exprn_gt0.
rewrite !valM average_total val_power average_list.
set a := val an / val ad; set g := val gn / val gd; set z := val zn / val zd.
rewrite (eq_bigr (fun k : 'I_(size c) => val m * (val (nth 0%num c k) * pos (1 - a * (g ^+ n * z ^+ k)))));
  last first.
  move=> [k kc] _ /=; rewrite mulrCA; congr (_ * _).
  rewrite valB -posM ?ltW // mulrBr mulr1; congr (pos (_ - _)).
  rewrite !valM !val_power /a /g /z !expr_div_n -(subnKC (ltnW kc)) !exprD addKn.
  by apply: fractions; rewrite ?expf_neq0 ?gt_eqF.
rewrite -mulr_sumr -(average_list c (fun k => pos (1 - a * (g ^+ n * z ^+ k)))).
rewrite -/(lattice_profile a (g ^+ n) z (poly_of c)) => le.
have em : val ad * (val gd ^+ n * val (power zd (size c))) = val m by rewrite /m !valM !val_power.
rewrite mulrAC ler_pdivl_mulr // -(ler_pmul2l m0) mulrA (le_trans le) // em val_power.
by rewrite le_eqVlt mulrCA mulrA eqxx.
Qed.
End Values.

(* A pair of two levels: masses c0/D and c1/D under P, ratios g and g z. *)
Section TwoLevels.
Variables (R : realFieldType) (c0 c1 D an ad gn gd zn zd : N).
Notation val := (val R).
Let c := [:: c0; c1].
Let g : R := val gn / val gd.
Let z : R := val zn / val zd.
Definition two_P (t : nat) (o : levels (fun=> 2%N) t) : R :=
  if (o : option 'I_2) is Some i then val (nth 0%num c i) / val D else 0.
Definition two_Q (t : nat) (o : levels (fun=> 2%N) t) : R :=
  if (o : option 'I_2) is Some i then val (nth 0%num c i) / val D * (g * z ^+ i) else 0.
Hypotheses (P1 : val c0 / val D + val c1 / val D = 1)
  (Q1 : val c0 / val D * g + val c1 / val D * (g * z) = 1).
Lemma two_P_distribution t : distribution (@two_P t).
Proof.
split=> [[i|] //=|]; first by rewrite divr_ge0 ?val_ge0.
by rewrite big_option !big_ord_recl big_ord0 /= add0r addr0.
Qed.
Lemma two_Q_distribution t : distribution (@two_Q t).
Proof.
split=> [[i|] //=|]; first by rewrite !mulr_ge0 ?exprn_ge0 ?mulr_ge0 ?invr_ge0 ?val_ge0.
by rewrite big_option !big_ord_recl big_ord0 /= add0r addr0 expr0 expr1 mulr1.
Qed.

(* Steps that it dominates, and what is computed of them. *)
Lemma two_levels_private (T : nat -> finType) (P Q : steps R T) n dn dd :
  at_most n (convolved c n) D an ad gn gd zn zd dn dd -> distributions P -> distributions Q ->
  (forall k h, dominates (P k h) (Q k h) (@two_P k) (@two_Q k)) ->
  forall E : pred (history T n),
  \sum_(x | E x) run P n x <= val an / val ad * (\sum_(x | E x) run Q n x) + val dn / val dd.
Proof.
move=> computed lP lQ dom; have a0 : 0 <= val an / val ad by rewrite divr_ge0 ?val_ge0.
have run_dom : dominates (run P n) (run Q n) (run (fixed two_P) n) (run (fixed two_Q) n).
  by apply: adaptive_composition => //; [exact: two_P_distribution | exact: two_Q_distribution].
apply: (dominated_is_private run_dom a0).
pose p (t : nat) : {poly R} := (val D)^-1 *: poly_of R c.
have p0 t i : 0 <= (p t)`_i by rewrite coefZ mulr_ge0 ?invr_ge0 ?val_ge0 ?poly_of_ge0.
have p_at t (i : 'I_2) : @two_P t (Some i) <= (p t)`_i.
  by rewrite coefZ coef_Poly (nth_map 0%num) ?ltn_ord // mulrC.
have q_at t (i : 'I_2) : @two_P t (Some i) * (g * z ^+ i) <= @two_Q t (Some i) by [].
have rest t : @two_P t None <= 0 by [].
have [g0 z0] : 0 <= g /\ 0 <= z by rewrite !divr_ge0 ?val_ge0.
have := @upper_measure R (fun=> 2%N) two_P two_Q p (fun=> g) (fun=> 0) z (val an / val ad) n
  two_P_distribution two_Q_distribution z0 (fun=> g0) a0 p0 p_at q_at rest.
rewrite big1_eq addr0 => /le_trans; apply.
have D0 : 0 < val D by case/and5P: computed => _ _ _ _ /andP [/(val_gt0 R)].
move: computed => /(at_most_sound R); rewrite poly_convolved => le.
rewrite !prodr_const card_ord exprZn -mul_polyC /lattice_profile.
rewrite -/(average _ (fun j => pos (1 - val an / val ad * (g ^+ n * z ^+ j)))) averageZ.
by rewrite exprVn mulrC ler_pdivr_mulr ?exprn_gt0.
Qed.
End TwoLevels.

(* Randomised response that tells the truth with probability 3/4: level 0 has the ratio Q/P = 3, level 1 has 1/3. *)
Section Responses.
Variable R : realFieldType.
Notation val := (val R).
Lemma v1 : val 1 = 1. Proof. by []. Qed.
Lemma v3 : val 3 = 3%:R. Proof. by []. Qed.
Lemma v4 : val 4 = 4%:R. Proof. by []. Qed.
Lemma v9 : val 9 = 9%:R. Proof. by []. Qed.
Let n3 : (3%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let n8 : (8%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.

Definition mass (i : nat) : R := if i == 0%N then 4%:R^-1 else 3%:R / 4%:R.
Definition ratio (i : nat) : R := 3%:R * 9%:R^-1 ^+ i.
Definition response_P (t : nat) (o : levels (fun=> 2%N) t) : R :=
  if (o : option 'I_2) is Some i then mass i else 0.
Definition response_Q (t : nat) (o : levels (fun=> 2%N) t) : R :=
  if (o : option 'I_2) is Some i then mass i * ratio i else 0.
Lemma mass_ge0 i : 0 <= mass i. Proof. by rewrite /mass; case: ifP => _; rewrite ?divr_ge0 ?invr_ge0 ?ler0n. Qed.
Lemma ratio_ge0 i : 0 <= ratio i. Proof. by rewrite mulr_ge0 ?exprn_ge0 ?invr_ge0 ?ler0n. Qed.
Lemma P_law t : distribution (@response_P t).
Proof.
split=> [[i|] //=|]; first exact: mass_ge0.
by rewrite big_option !big_ord_recl big_ord0 /= /mass /=; field.
Qed.
Lemma Q_law t : distribution (@response_Q t).
Proof.
split=> [[i|] //=|]; first by rewrite mulr_ge0 ?mass_ge0 ?ratio_ge0.
by rewrite big_option !big_ord_recl big_ord0 /= /mass /ratio /= expr0 expr1; field.
Qed.

(* What is log 3-differentially private is dominated: spread each outcome over the two levels. *)
Lemma pure_dominated (T : finType) (P Q : T -> R) t : distribution P -> distribution Q ->
  (forall x, P x <= 3%:R * Q x) -> (forall x, Q x <= 3%:R * P x) ->
  dominates P Q (@response_P t) (@response_Q t).
Proof.
move=> lP lQ PQ QP.
pose K (x : T) (o : levels (fun=> 2%N) t) : R := if (o : option 'I_2) is Some i then
  if i == 0 then (3%:R * Q x - P x) / 8%:R else 3%:R * (3%:R * P x - Q x) / 8%:R else 0.
pose y (o : levels (fun=> 2%N) t) : R := if (o : option 'I_2) is Some i then ratio i else 0.
have s0 : \sum_x (3%:R * Q x - P x) / 8%:R = 4%:R^-1.
  rewrite -mulr_suml sumrB -mulr_sumr lP.2 lQ.2; by field.
have s1 : \sum_x 3%:R * (3%:R * P x - Q x) / 8%:R = 3%:R / 4%:R.
  rewrite -mulr_suml -mulr_sumr sumrB -mulr_sumr lP.2 lQ.2; by field.
apply: dominates_trans (@spread R T _ P Q K y _ _ _) _.
- move=> x [i|] //=; case: ifP => _; rewrite ?mulr_ge0 ?invr_ge0 ?subr_ge0 ?ler0n //.
- by move=> x; rewrite big_option !big_ord_recl big_ord0 /K /=; field.
- by move=> x; rewrite big_option !big_ord_recl big_ord0 /K /y /ratio /= expr0 expr1 le_eqVlt; apply/orP; left;
  apply/eqP; field.
have e (o : levels (fun=> 2%N) t) : \sum_x K x o = response_P o.
  by case: o => [[[|[|//]] i]|] /=; rewrite /mass /= ?s0 ?s1 // big1.
apply: (dominates_eq (P' := response_P (t := t)) (Q' := response_Q (t := t)) e _ (frefl _) (frefl _)) => // o.
by rewrite e; case: o => [i|] //=; rewrite mulr0.
Qed.

(* The same pair, with masses and ratios as fractions of integers. *)
Lemma responses_are t : @response_P t =1 @two_P R 1 3 4 t /\ @response_Q t =1 @two_Q R 1 3 4 3 1 1 9 t.
Proof.
split=> -[[[|[|//]] i]|] //.
- by rewrite -[RHS]/(1 / 4%:R) div1r.
- by rewrite -[RHS]/(1 / 4%:R * (3%:R / 1 * (1 / 9%:R) ^+ 0)) !div1r divr1.
- by rewrite -[RHS]/(3%:R / 4%:R * (3%:R / 1 * (1 / 9%:R) ^+ 1)) div1r divr1.
Qed.
Lemma responses_private n dn dd : at_most n (convolved [:: 1; 3]%num n) 4 9 1 3 1 1 9 dn dd ->
  forall (T : nat -> finType) (P Q : steps R T), distributions P -> distributions Q ->
  (forall k h x, P k h x <= 3%:R * Q k h x) -> (forall k h x, Q k h x <= 3%:R * P k h x) ->
  forall E : pred (history T n),
  \sum_(x | E x) run P n x <= 9%:R * (\sum_(x | E x) run Q n x) + val dn / val dd.
Proof.
move=> computed T P Q lP lQ PQ QP; rewrite -[9%:R]divr1 -v9 -v1.
apply: (two_levels_private _ _ computed) => // [||k h].
- by rewrite v1 v3 v4; field.
- by rewrite v1 v3 v4 v9; field.
apply: dominates_trans (pure_dominated k (lP k h) (lQ k h) (PQ k h) (QP k h)) _ => a _.
rewrite le_eqVlt; apply/orP; left; apply/eqP; exact: (H_eq a (responses_are k).1 (responses_are k).2).
Qed.

(* On a Poisson sample of rate 1/2: in the order with x first, and in the other. *)
Lemma v2 : val 2 = 2%:R. Proof. by []. Qed.
Let n2 : (2%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let n4 : (4%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let half := 1 / 2%:R : R.
Lemma half_bounds : 0 <= half /\ half <= 1.
Proof. by rewrite /half div1r invr_ge0 ler0n invf_le1 ?ltr0n // ler1n. Qed.
Lemma with_are t : blend half (@response_P t) (@response_Q t) =1 @two_P R 1 1 2 t /\
  @response_Q t =1 @two_Q R 1 1 2 3 2 1 3 t.
Proof.
split=> -[[[|[|//]] i]|]; rewrite /blend /half //= /mass /ratio /=.
- by rewrite -[RHS]/(1 / 2%:R) ?expr0; field.
- by rewrite -[RHS]/(1 / 2%:R) ?expr1; field.
- by rewrite !mulr0 addr0.
- by rewrite -[RHS]/(1 / 2%:R * (3%:R / 2%:R * (1 / 3%:R) ^+ 0)) ?expr0; field.
- by rewrite -[RHS]/(1 / 2%:R * (3%:R / 2%:R * (1 / 3%:R) ^+ 1)) ?expr1; field.
Qed.
Lemma without_are t : @response_Q t =1 @two_P R 3 1 4 t /\
  blend half (@response_P t) (@response_Q t) =1 @two_Q R 3 1 4 2 3 3 1 t.
Proof.
split=> -[[[|[|//]] i]|]; rewrite /blend /half //= /mass /ratio /=.
- by rewrite -[RHS]/(3%:R / 4%:R) ?expr0; field.
- by rewrite -[RHS]/(1 / 4%:R) ?expr1; field.
- by rewrite -[RHS]/(3%:R / 4%:R * (2%:R / 3%:R * (3%:R / 1) ^+ 0)) ?expr0; field.
- by rewrite -[RHS]/(1 / 4%:R * (2%:R / 3%:R * (3%:R / 1) ^+ 1)) ?expr1; field.
- by rewrite !mulr0 addr0.
Qed.

Section Sampled.
Variables (I : finType) (T : nat -> finType) (M : forall n, history T n -> {set I} -> T n -> R) (D : {set I}) (x : I).
Hypotheses (xD : x \notin D) (lM : forall m h S, distribution (@M m h S)).
Hypothesis MxM : forall m h (S : {set I}) y, S \subset D -> @M m h (x |: S) y <= 3%:R * @M m h S y.
Hypothesis MMx : forall m h (S : {set I}) y, S \subset D -> @M m h S y <= 3%:R * @M m h (x |: S) y.
Let with_x : steps R T := fun m h => poisson half (@M m h) (x |: D).
Let without_x : steps R T := fun m h => poisson half (@M m h) D.
Lemma sampled_distributions : distributions with_x /\ distributions without_x.
Proof. by have [h0 h1] := half_bounds; split=> m h; apply: poisson_law. Qed.
Lemma base m h (S : {set I}) : S \subset D ->
  dominates (@M m h (x |: S)) (@M m h S) (@response_P m) (@response_Q m).
Proof. by move=> sub; apply: pure_dominated => // y; [exact: MxM | exact: MMx]. Qed.
Lemma sampled_with n dn dd : at_most n (convolved [:: 1; 1]%num n) 2 4 1 3 2 1 3 dn dd ->
  forall E : pred (history T n),
  \sum_(y | E y) run with_x n y <= 4%:R * (\sum_(y | E y) run without_x n y) + val dn / val dd.
Proof.
move=> computed; have [h0 h1] := half_bounds; have [lw lwo] := sampled_distributions.
rewrite -[4%:R]divr1 -v4 -v1; apply: (two_levels_private _ _ computed) => // [||k h].
- by rewrite v1 v2; field.
- by rewrite v1 v2 v3; field.
apply: dominates_eq (frefl _) (frefl _) (fun o => esym ((with_are k).1 o)) (fun o => esym ((with_are k).2 o)) _.
by apply: poisson_removed => //; [exact: P_law | exact: Q_law | exact: base].
Qed.
Lemma sampled_without n dn dd : at_most n (convolved [:: 3; 1]%num n) 4 4 1 2 3 3 1 dn dd ->
  forall E : pred (history T n),
  \sum_(y | E y) run without_x n y <= 4%:R * (\sum_(y | E y) run with_x n y) + val dn / val dd.
Proof.
move=> computed; have [h0 h1] := half_bounds; have [lw lwo] := sampled_distributions.
rewrite -[4%:R]divr1 -v4 -v1; apply: (two_levels_private _ _ computed) => // [||k h].
- by rewrite v1 v3 v4; field.
- by rewrite v1 v2 v3 v4; field.
apply: dominates_eq (frefl _) (frefl _) (fun o => esym ((without_are k).1 o)) (fun o => esym ((without_are k).2 o)) _.
by apply: poisson_added => //; [exact: P_law | exact: Q_law | exact: base].
Qed.
End Sampled.
End Responses.

Theorem ten_responses (R : realFieldType) : Ten_responses R.
Proof.
have computed : at_most 10 (convolved [:: 1; 3]%num 10) 4 9 1 3 1 1 9 745 1000 by vm_cast_no_check (erefl true).
exact (@responses_private R 10 745 1000 computed).
Qed.

Theorem ten_sampled_responses (R : realFieldType) : Ten_sampled_responses R.
Proof.
move=> I T M D x xD lM MxM MMx with_x without_x E.
have first : at_most 10 (convolved [:: 1; 1]%num 10) 2 4 1 3 2 1 3 311 1000 by vm_cast_no_check (erefl true).
have second : at_most 10 (convolved [:: 3; 1]%num 10) 4 4 1 2 3 3 1 307 1000 by vm_cast_no_check (erefl true).
split; first exact (@sampled_with R I T M D x xD lM MxM MMx 10 311 1000 first E).
exact (@sampled_without R I T M D x xD lM MxM MMx 10 307 1000 second E).
Qed.
