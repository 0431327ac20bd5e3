// Kernels on threads of their own, on one thread, and together in one LLVM module make the same text.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_80})' > %t.threads
// RUN: blocksparse-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_80})' > %t.serial
// RUN: sed 's,// WHOLE: ,,' %s > %t.whole.mlir
// RUN: blocksparse-opt %t.whole.mlir --pass-pipeline='builtin.module(blocksparse-emit-ptx{target=cuda:sm_80})' > %t.whole
// RUN: diff %t.threads %t.serial
// RUN: diff %t.threads %t.whole
// RUN: FileCheck %s < %t.threads

// CHECK: gpu.binary @kernels
// CHECK-SAME: .extern .shared .align 128 .b8 shared[];
// CHECK-SAME: .visible .entry first(
// CHECK-SAME: $L__BB0_{{[0-9]+}}:
// CHECK-NOT: .extern
// CHECK-SAME: .visible .entry second(
// CHECK-SAME: $L__BB1_{{[0-9]+}}:
// CHECK-NOT: .extern
// CHECK-SAME: .visible .entry third(
gpu.module @kernels {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @first(%n: i32) attributes {gpu.kernel, nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    llvm.br ^loop(%zero : i32)
  ^loop(%i: i32):
    llvm.store volatile %i, %shared : i32, !llvm.ptr<3>
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %more, ^loop(%next : i32), ^end
  ^end:
    llvm.return
  }
  llvm.func @second(%n: i32, %p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%zero : i32)
  ^loop(%i: i32):
    llvm.store volatile %i, %p : i32, !llvm.ptr
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %more, ^loop(%next : i32), ^end
  ^end:
    llvm.return
  }
  llvm.func @third(%n: i32) attributes {gpu.kernel, nvvm.kernel} {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    llvm.store volatile %n, %shared : i32, !llvm.ptr<3>
    llvm.return
  }
  // WHOLE: llvm.func internal @unused() { llvm.return }
}

// No variable, and so no declaration.
// CHECK: gpu.binary @bare
// CHECK-SAME: .visible .entry first(
// CHECK-SAME: .visible .entry second(
gpu.module @bare {
  llvm.func @first() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  llvm.func @second() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  // WHOLE: llvm.func internal @unused() { llvm.return }
}

// A variable that one kernel owns goes with it; one that two share keeps them together.
// CHECK: gpu.binary @owned
// CHECK-SAME: .global .align 4 .u32 count;
// CHECK-SAME: .visible .entry first(
// CHECK-SAME: [count]
// CHECK-SAME: .visible .entry second(
gpu.module @owned {
  llvm.mlir.global internal @count(0 : i32) {addr_space = 1 : i32} : i32
  llvm.func @first(%n: i32) attributes {gpu.kernel, nvvm.kernel} {
    %count = llvm.mlir.addressof @count : !llvm.ptr<1>
    llvm.store volatile %n, %count : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @second() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  // WHOLE: llvm.func internal @unused() { llvm.return }
}

// CHECK: gpu.binary @common
// CHECK-SAME: .global .align 4 .u32 count;
// CHECK-NOT: .global .align 4 .u32 count;
// CHECK-SAME: .visible .entry first(
// CHECK-SAME: [count]
// CHECK-SAME: .visible .entry second(
// CHECK-SAME: [count]
gpu.module @common {
  llvm.mlir.global internal @count(0 : i32) {addr_space = 1 : i32} : i32
  llvm.func @first(%n: i32) attributes {gpu.kernel, nvvm.kernel} {
    %count = llvm.mlir.addressof @count : !llvm.ptr<1>
    llvm.store volatile %n, %count : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @second(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %count = llvm.mlir.addressof @count : !llvm.ptr<1>
    %0 = llvm.load volatile %count : !llvm.ptr<1> -> i32
    llvm.store %0, %p : i32, !llvm.ptr
    llvm.return
  }
}

// So does a function that kernels call.
// CHECK: gpu.binary @helper
// CHECK-SAME: .func {{.*}}add_one(
// CHECK-SAME: .visible .entry first(
// CHECK-SAME: .visible .entry second(
gpu.module @helper {
  llvm.func internal @add_one(%n: i32) -> i32 attributes {no_inline} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %0 = llvm.add %n, %one : i32
    llvm.return %0 : i32
  }
  llvm.func @first(%n: i32, %p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.call @add_one(%n) : (i32) -> i32
    llvm.store %0, %p : i32, !llvm.ptr
    llvm.return
  }
  llvm.func @second(%n: i32, %p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.call @add_one(%n) : (i32) -> i32
    llvm.store %0, %p : i32, !llvm.ptr
    llvm.return
  }
}
