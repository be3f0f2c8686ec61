(* The checker of kernel certificates: it composes integer masses, and bounds delta from above. *)
From Coq Require Import NArith List.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope N_scope.

(* The number with the digits s in base 2^w, lowest first. `packed d w s` packs the first 2^d numbers of s, and returns
   the rest of s as well; `unpacked d w x` is the list of the lowest 2^d digits of x, before the list `after`. *)
Fixpoint packed (d : nat) (w : N) (s : list N) : N * list N :=
  match d, s with
  | _, nil => (0, nil)
  | O, a :: t => (a, t)
  | S e, _ => let x := packed e w s in let y := packed e w (snd x) in
    (fst x + N.shiftl (fst y) (N.shiftl w (N.of_nat e)), snd y)
  end.
Fixpoint unpacked (d : nat) (w x : N) (after : list N) : list N :=
  match d with
  | O => x :: after
  | S e => let v := N.shiftl w (N.of_nat e) in let y := N.shiftr x v in
    unpacked e w (x - N.shiftl y v) (unpacked e w y after)
  end.
Fixpoint sum (s : list N) : N := match s with nil => 0 | a :: t => a + sum t end.
Fixpoint below (B : N) (s : list N) : bool :=
  match s with nil => true | a :: t => if a <? B then below B t else false end.

(* The convolution of s and t, by one product of integers. The digits of the product are the sums of the convolution if
   they are less than 2^w. What is returned is checked to be of that kind; else it is the empty list. *)
Definition product (s t : list N) : list N :=
  let w := N.size (sum s * sum t) in
  let d := N.to_nat (N.size (N.of_nat (length s + length t))) in
  let x := packed d w s in let y := packed d w t in
  match snd x, snd y with
  | nil, nil => let r := unpacked d w (fst x * fst y) nil in if below (N.shiftl 1 w) r then r else nil
  | _, _ => nil
  end.

(* A measure (m, s) on the levels m, m + 1, ... has the masses s, as multiples of 2^-b. *)
Definition measure : Type := N * list N.
Fixpoint without_first_zeros (m : N) (s : list N) : measure :=
  match s with nil => (m, nil) | a :: t => if 0 <? a then (m, s) else without_first_zeros (N.succ m) t end.
Fixpoint without_last_zeros (s : list N) : list N :=
  match s with nil => nil | a :: t => match without_last_zeros t with
    | nil => if 0 <? a then a :: nil else nil | r => a :: r end end.
Definition convolution (b : N) (x y : measure) : measure :=
  let r := map (fun c => N.shiftr c b) (product (snd x) (snd y)) in
  without_first_zeros (fst x + fst y) (without_last_zeros r).

(* Powers by repeated squaring. *)
Fixpoint power (T : Type) (times : T -> T -> T) (x : T) (n : positive) : T :=
  match n with
  | xH => x
  | xO k => let y := power times x k in times y y
  | xI k => let y := power times x k in times x (times y y)
  end.

(* (n, e) is the number n / 2^e. `times_down` keeps the first `bits` bits of a product, rounded down; `times_up` is a
   product of multiples of 2^-b, rounded up. *)
Definition binary : Type := N * N.
Definition times_down (bits : N) (x y : binary) : binary :=
  let n := fst x * fst y in let e := snd x + snd y in
  let r := N.min e (N.size n - bits) in (N.shiftr n r, e - r).
Definition times_up (b x y : N) : N := N.shiftr (x * y + (N.shiftl 1 b - 1)) b.

(* A kind of step: how many there are, the ratio at level 0, the mass at infinite loss, the masses of the levels. *)
Definition kind : Type := positive * binary * N * list N.
Definition count (k : kind) : positive := fst (fst (fst k)).
Definition ratio (k : kind) : binary := snd (fst (fst k)).
Definition infinite (k : kind) : N := snd (fst k).
Definition masses (k : kind) : list N := snd k.
Definition mass (k : kind) (level : nat) : N := nth level (masses k) 0.
Definition no_kind : kind := (1%positive, (0, 0), 0, nil).

Section Certificate.
Variable b : N.   (* masses are multiples of 2^-b *)
Variable a : binary.   (* the threshold, at most e^epsilon *)
Variable z : binary.   (* the factor from one level to the next, at most e^-h *)
Variable kinds : list kind.

Definition composed : measure :=
  fold_right (fun k x => convolution b (power (convolution b) (0, masses k) (count k)) x)
    (0, N.shiftl 1 b :: nil) kinds.
Definition total_mass : N :=
  fold_right (fun k x => times_up b (power (times_up b) (sum (masses k)) (count k)) x) (N.shiftl 1 b) kinds.
Definition infinite_mass : N := fold_right (fun k x => Npos (count k) * infinite k + x) 0 kinds.

(* At least a times the ratio Q/P of level m of all steps together. *)
Definition precision : N := 2 * snd z.
Definition ratio_at (m : N) : binary :=
  let at_zero :=
    fold_right (fun k x => times_down precision (power (times_down precision) (ratio k) (count k)) x) a kinds in
  match m with N0 => at_zero | Npos n => times_down precision at_zero (power (times_down precision) z n) end.

(* The sum of c (1 - y) over the masses c; y is multiplied by z from one to the next, and rounded down. *)
Fixpoint weighted (s : list N) (y : N) : N :=
  match s with
  | nil => 0
  | c :: t => c * (N.shiftl 1 (snd z) - y) + weighted t (N.shiftr (y * fst z) (snd z))
  end.

(* A bound on delta, as a multiple of 2^-(b + snd z). Mass that was rounded away counts in full. *)
Definition bound : N :=
  let x := composed in let y := ratio_at (fst x) in
  weighted (snd x) (N.shiftr (N.shiftl (fst y) (snd z)) (snd y)) +
  N.shiftl (infinite_mass + (total_mass - sum (snd x))) (snd z).
Definition accepted (d : binary) : bool := N.shiftl bound (snd d) <=? N.shiftl (fst d) (b + snd z).
End Certificate.
