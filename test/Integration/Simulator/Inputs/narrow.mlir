// The product of numbers of 32 bits, which wraps, is checked.
func.func @f(%n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %0 = arith.muli %n, %m : i32
  %1 = arith.cmpi sgt, %0, %c0 : i32
  cf.assert %1, "expects a product above 0"
  return
}
