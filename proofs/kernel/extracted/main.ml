(* Reads a kernel certificate, and asks the checker about each of its claims. Exit status: 0 if all are accepted, 1 if
   one is refused, 2 if the file is no certificate. *)
exception Malformed of string

let number word =
  if word = "" || String.exists (fun c -> c < '0' || c > '9') word then raise (Malformed ("a number, not " ^ word));
  Z.of_string word

let read channel =
  let word () = Scanf.bscanf channel " %s" Fun.id in
  let expect known =
    let found = word () in
    if found <> known then raise (Malformed (Printf.sprintf "'%s', not '%s'" known found)) in
  let field name = expect name; number (word ()) in
  let size name =
    let n = field name in
    if Z.fits_int n then Z.to_int n else raise (Malformed (name ^ " that is a small number")) in
  let fraction name = let n = field name in (n, number (word ())) in
  let rec list n item = if n <= 0 then [] else let first = item () in first :: list (n - 1) item in
  let kind () =
    let count = field "kind" in
    if Z.sign count <= 0 then raise (Malformed "a kind with at least one step");
    let ratio = fraction "ratio" in
    let infinite = field "infinite" in
    let masses = list (size "masses") (fun () -> number (word ())) in
    (((count, ratio), infinite), masses) in
  let claim () =
    expect "claim";
    let name = word () in
    let bits = field "bits" in
    let threshold = fraction "threshold" in
    let factor = fraction "factor" in
    let delta = fraction "delta" in
    let kinds = list (size "kinds") kind in
    (name, bits, threshold, factor, delta, kinds) in
  let line () = Scanf.bscanf channel "%[^\n]\n" Fun.id in
  if line () <> "dpbounds kernel certificate 1" then raise (Malformed "the line 'dpbounds kernel certificate 1'");
  ignore (line ());
  let claims = list (size "claims") claim in
  if claims = [] then raise (Malformed "at least one claim");
  expect "end";
  Scanf.bscanf channel " %!" claims

let show (n, e) = Printf.sprintf "%s/2^%s" (Z.to_string n) (Z.to_string e)

let () =
  match read (Scanf.Scanning.open_in Sys.argv.(1)) with
  | exception (Malformed expected) -> Printf.printf "malformed: expected %s\n" expected; exit 2
  | exception (Scanf.Scan_failure _ | End_of_file | Sys_error _) -> print_endline "malformed: not such a file"; exit 2
  | claims ->
    let check (name, bits, threshold, factor, delta, kinds) =
      let holds = Checker.accepted bits threshold factor kinds delta in
      Printf.printf "%s %s: P(E) <= c Q(E) + %s for every c >= %s\n" (if holds then "accepted" else "refused") name
        (show delta) (show threshold);
      holds in
    exit (if List.for_all Fun.id (List.map check claims) then 0 else 1)
