(* Steps that publish whole numbers: their composition, and noise that is moved. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From kernel Require Import statements profiles composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sums.
Variable R : realFieldType.
Implicit Types (p q F w : int -> R) (s r : seq int).

Lemma sum_subset (V : eqType) (w : V -> R) (s r : seq V) : (forall x, 0 <= w x) -> uniq s -> uniq r ->
  {subset s <= r} -> \sum_(x <- s) w x <= \sum_(x <- r) w x.
Proof.
move=> w0 us ur sub; rewrite [X in _ <= X](bigID (fun x => x \in s)) /=.
have same : perm_eq [seq x <- r | x \in s] s.
  apply: uniq_perm => [||x]; rewrite ?filter_uniq // mem_filter; by case: (boolP (x \in s)) => //= /sub.
by rewrite -[X in _ <= X + _]big_filter (perm_big _ same) ler_addl sumr_ge0.
Qed.
Lemma sum_outside w s r : (forall x, 0 <= w x) -> uniq s -> uniq r ->
  \sum_(x <- s) w x <= \sum_(x <- r) w x + \sum_(x <- s | x \notin r) w x.
Proof.
move=> w0 us ur; rewrite [X in X <= _](bigID (fun x => x \in r)) /= ler_add2r -[X in X <= _]big_filter.
apply: sum_subset => //; first exact: filter_uniq.
by move=> x; rewrite mem_filter => /andP [].
Qed.
Lemma sum_disjoint w s r : total w 1 -> uniq s -> uniq r ->
  \sum_(x <- r) w x + \sum_(x <- s | x \notin r) w x <= 1.
Proof.
move=> [le _] us ur; rewrite -[X in _ + X]big_filter -big_cat; apply: le.
rewrite cat_uniq ur filter_uniq // andbT; apply/hasPn => x.
by rewrite mem_filter => /andP [].
Qed.

(* What holds for finite sets holds for their complements. *)
Lemma cofinite p q c M s : distribution_on_int p -> distribution_on_int q -> 0 <= c -> uniq s ->
  (forall E : seq int, uniq E -> \sum_(x <- E) (p x - c * q x) <= M) ->
  (1 - \sum_(x <- s) p x) - c * (1 - \sum_(x <- s) q x) <= M.
Proof.
move=> [p0 [_ lp]] [q0 tq] c0 us le; rewrite ler_subl_addr ler_subl_addr; apply: lp => r ur.
apply: le_trans (sum_outside p0 ur us) _; rewrite addrC ler_add2r.
have := le _ (filter_uniq (fun x => x \notin s) ur).
rewrite big_filter sumrB -mulr_sumr ler_subl_addr => /le_trans; apply.
by rewrite ler_add2l ler_wpmul2l // ler_subr_addl sum_disjoint.
Qed.
End Sums.

Section Runs.
Variables (R : realFieldType) (N : nat).
Local Notation T := (fun _ : nat => [finType of option 'I_(N.*2.+1)]).
Implicit Types P Q : seq int -> int -> R.

(* All outcomes that are not within -N, ..., N as one, None. *)
Fixpoint inside n : history T n -> option (history (up_to N) n) :=
  if n is m.+1 then fun h => match @inside m h.1, h.2 with Some k, Some i => Some (k, i) | _, _ => None end
  else fun=> Some tt.
Definition past n (h : history T n) : seq int := if inside h is Some k then numbers k else nseq n 0.
Definition place (i : 'I_(N.*2.+1)) : int := i%:Z - N%:Z.
Definition whole P : steps R T := fun n h o =>
  if o is Some i then P (past h) (place i) else 1 - \sum_i P (past h) (place i).

Lemma size_past n (h : history T n) : size (past h) = n.
Proof.
rewrite /past; case: (inside h) => [k|]; last exact: size_nseq.
by elim: n k {h} => //= n IH k; rewrite size_rcons IH.
Qed.
Lemma place_inj : injective place.
Proof. by move=> i j /addIr [] /ord_inj. Qed.
Lemma uniq_places (E : pred 'I_(N.*2.+1)) : uniq [seq place i | i <- enum E].
Proof. by rewrite map_inj_uniq ?enum_uniq //; exact: place_inj. Qed.
Lemma sum_places (E : pred 'I_(N.*2.+1)) (F : int -> R) :
  \sum_(i | E i) F (place i) = \sum_(x <- [seq place i | i <- enum E]) F x.
Proof. by rewrite big_map big_enum_cond; apply: eq_bigl => i; rewrite andbT. Qed.
Lemma whole_laws P : (forall l, distribution_on_int (P l)) -> distributions (whole P).
Proof.
move=> lP n h; have [P0 [P1 _]] := lP (past h); split=> [[i|]|] /=; first exact: P0.
  by rewrite subr_ge0 sum_places P1 // uniq_places.
by rewrite big_option /= subrK.
Qed.

Lemma run_within P n (G : option (history (up_to N) n) -> R) : G None = 0 ->
  \sum_h run (whole P) n h * G (inside h) = \sum_h run (within P) n h * G (Some h).
Proof.
elim: n G => [|n IH] G G0; first by rewrite !sum_unit.
pose G' (k : option (history (up_to N) n)) :=
  if k is Some k then \sum_(i : 'I_(N.*2.+1)) P (numbers k) (place i) * G (Some (k, i)) else 0.
rewrite sum_last [RHS]sum_last; apply: (eq_trans _ (etrans (IH G' erefl) _)); apply: eq_bigr => h _; last first.
  by rewrite /G' mulr_sumr; apply: eq_bigr => i _; rewrite mulrA.
rewrite big_option /=; case e: (inside h) => [k|].
  rewrite G0 mulr0 add0r /G' mulr_sumr; apply: eq_bigr => i _.
  by rewrite /whole /past e mulrA.
by rewrite G0 mulr0 add0r mulr0 big1 // => i _; rewrite mulr0.
Qed.
Lemma run_event P n (E : pred (history (up_to N) n)) : \sum_(h | E h) run (within P) n h =
  \sum_(h | if inside h is Some k then E k else false) run (whole P) n h.
Proof.
pose G (k : option (history (up_to N) n)) : R := if k is Some k then (E k)%:R else 0.
rewrite big_mkcond [RHS]big_mkcond /=.
transitivity (\sum_h run (within P) n h * G (Some h)).
  by apply: eq_bigr => h _ /=; case: (E h); rewrite ?mulr1 ?mulr0.
rewrite -run_within //; apply: eq_bigr => h _; rewrite /G.
by case: (inside h) => [k|]; rewrite ?mulr0 //; case: (E k); rewrite ?mulr1 ?mulr0.
Qed.

Lemma whole_dominated P Q n (h : history T n) (U : finType) (A B : U -> R) :
  (forall l, distribution_on_int (P l)) -> (forall l, distribution_on_int (Q l)) ->
  (forall l c (E : seq int), size l = n -> 0 <= c -> uniq E -> \sum_(x <- E) (P l x - c * Q l x) <= H c A B) ->
  dominates (whole P h) (whole Q h) A B.
Proof.
move=> lP lQ le c c0; have [_ [E <-]] := best_event (whole P h) (whole Q h) c.
have {}le s (us : uniq s) := le _ c s (size_past h) c0 us.
rewrite big_mkcond [X in _ - c * X]big_mkcond /= !big_option /=.
case: (boolP (E None)) => EN; last first.
  rewrite !add0r -!big_mkcond mulr_sumr -sumrB.
  rewrite (sum_places (fun i => E (Some i)) (fun x => P (past h) x - c * Q (past h) x)); apply: le.
  exact: uniq_places.
pose s := [seq place i | i <- enum [pred i | ~~ E (Some i)]].
have e (S : seq int -> int -> R) : 1 - \sum_i S (past h) (place i) +
    \sum_(i : 'I_(N.*2.+1)) (if E (Some i) then S (past h) (place i) else 0) = 1 - \sum_(x <- s) S (past h) x.
  rewrite -(sum_places [pred i | ~~ E (Some i)]) (bigID (fun i => E (Some i)) predT) /= -big_mkcond.
  by rewrite opprD addrA addrAC subrK.
by rewrite !e; apply: cofinite => //; exact: uniq_places.
Qed.
End Runs.

Section Theorems.
Variable R : realFieldType.

Theorem whole_number_run : Whole_number_run R.
Proof.
move=> P Q U A B n a d lP lQ lA lB le a0 ad N E; rewrite !run_event.
apply: (@dominated_is_private R _ _ _ _ (run (fixed A) n) (run (fixed B) n)) => //.
apply: adaptive_composition; rewrite ?whole_laws //; try exact: whole_laws.
by move=> m h; apply: whole_dominated => // l c s <-; exact: le.
Qed.

Section Moved.
Variables (F : int -> R) (a : R).
Hypotheses (noise : log_concave_noise F) (a0 : 0 <= a).
Let F_gt0 x : 0 < F x. Proof. by case: noise => _ []. Qed.
Let F_even x : F (- x) = F x. Proof. by case: noise => _ [_ []]. Qed.
Let F_concave x (s : nat) : F (x - s%:Z) * F (x + 1) <= F (x + 1 - s%:Z) * F x.
Proof. by case: noise => _ [_ []]. Qed.

Lemma noise_falls (y : nat) : F (y%:Z + 1) <= F y%:Z.
Proof.
have := F_concave y%:Z y.*2.+1.
have -> : y%:Z - y.*2.+1%:Z = - (y%:Z + 1) by lia.
have -> : y%:Z + 1 - y.*2.+1%:Z = - y%:Z by lia.
by rewrite !F_even -!expr2 ler_sqr ?nnegrE // ltW.
Qed.
Lemma noise_smaller (x : int) (y : nat) : (`|x|%N <= y)%N -> F y%:Z <= F x.
Proof.
move=> le; have -> : F x = F `|x|%N%:Z by case: (lerP 0 x) => h; [|rewrite -F_even]; congr F; lia.
elim: y le => [|y IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP [/eqP -> //|le]; apply: le_trans (IH le).
by rewrite (_ : y.+1%:Z = y%:Z + 1) ?noise_falls //; lia.
Qed.

Lemma threshold (s : nat) x k : exists2 j, (j <= k)%N &
  \sum_(0 <= i < k) pos (F (x + i%:Z - s%:Z) - a * F (x + i%:Z)) =
  \sum_(j <= i < k) (F (x + i%:Z - s%:Z) - a * F (x + i%:Z)).
Proof.
pose g y := F (y - s%:Z) - a * F y.
have up y : 0 <= g y -> 0 <= g (y + 1).
  rewrite /g !subr_ge0 => h; rewrite -(ler_pmul2r (F_gt0 y)) (le_trans _ (F_concave y s)) //.
  by rewrite mulrAC ler_pmul2r.
elim: k x => [|k IH] x; first by exists 0%N; rewrite ?big_nil // !big_geq.
case: (lerP 0 (g x)) => gx.
  exists 0%N => //; apply: eq_big_nat => i _; rewrite pos_id // -/(g _).
  elim: i => [|i IHi]; first by rewrite addr0.
  by rewrite (_ : x + _ = x + i%:Z + 1) ?up //; lia.
have [j jk e] := IH (x + 1); exists j.+1 => //.
rewrite big_nat_recl // addr0 pos_0 ?add0r; last exact: ltW.
have shift i : x + i.+1%:Z = x + 1 + i%:Z by lia.
rewrite big_add1 /=; under eq_bigr do rewrite shift; under [RHS]eq_bigr do rewrite shift; exact: e.
Qed.

Lemma distance_step (s : nat) d :
  (forall E : seq int, uniq E -> \sum_(x <- E) (F (x - s.+1%:Z) - a * F x) <= d) ->
  forall E : seq int, uniq E -> \sum_(x <- E) (F (x - s%:Z) - a * F x) <= d.
Proof.
move=> le E uE; have d0 : 0 <= d by have := le [::] isT; rewrite big_nil.
pose M := (\max_(x <- E) `|x|%N)%N.
have ME x : x \in E -> (`|x|%N <= M)%N by move=> xE; rewrite /M (big_rem x) //= leq_maxl.
pose k := (M + M + s + s + 2)%N; pose I := [seq - M%:Z + i%:Z | i <- index_iota 0 k].
have uI j : uniq [seq - M%:Z + i%:Z | i <- index_iota j k].
  by rewrite map_inj_uniq ?iota_uniq // => i i' /addrI [].
pose g y := F (y - s%:Z) - a * F y.
apply: (@le_trans _ _ (\sum_(x <- E) pos (g x))); first by apply: ler_sum => x _; exact: pos_ge.
apply: (@le_trans _ _ (\sum_(x <- I) pos (g x))).
  apply: sum_subset (uI 0%N) _ => // [x|x /ME xM]; first exact: pos_ge0.
  apply/mapP; exists (absz (x + M%:Z)); last by lia.
  by rewrite mem_index_iota /k; lia.
rewrite big_map; have [j jk ->] := threshold s (- M%:Z) k.
move: jk; rewrite leq_eqVlt => /orP [/eqP ->|jk]; first by rewrite big_geq.
apply: le_trans (le _ (uI j)); rewrite big_map -subr_ge0 -sumrB.
pose T i := F (- M%:Z + i%:Z - s.+1%:Z).
rewrite (eq_bigr (fun i => - (T i.+1 - T i))) => [|i _]; last first.
  by rewrite /T (_ : - M%:Z + i.+1%:Z - s.+1%:Z = - M%:Z + i%:Z - s%:Z); [ring | lia].
rewrite sumrN telescope_sumr 1?ltnW // opprB subr_ge0 /T.
rewrite (_ : - M%:Z + k%:Z - _ = (M + s + 1)%N%:Z); last by rewrite /k; lia.
apply: noise_smaller; move: jk; rewrite /k; lia.
Qed.
End Moved.

Theorem distance_grows : Distance_grows R.
Proof.
move=> F s D a d noise sD a0; rewrite -(subnK sD); elim: (D - s)%N => [//|k IH] le.
by apply: IH; apply: distance_step.
Qed.
End Theorems.
