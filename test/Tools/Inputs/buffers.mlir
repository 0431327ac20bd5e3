// A planned product on buffers, with row-major values and operands of any strides.
!values = memref<3x2x2xf32>
!dense = memref<4x3xf32, strided<[?, ?], offset: ?>>

memref.global "private" constant @entries : memref<3x2xi32> = dense<[[0, 0], [0, 1], [1, 2]]>
memref.global "private" constant @segments : memref<2x5xi32> = dense<[[1, 0, 1, 2, -1], [0, 0, 0, 1, -1]]>

func.func @product(%values: !values, %x: !dense, %y: !dense) {
  %segments = memref.get_global @segments : memref<2x5xi32>
  %entries = memref.get_global @entries : memref<3x2xi32>
  blocksparse.planned_dsd %values, %x segments(%segments) entries(%entries) outs(%y)
    {block = array<i64: 2, 2>, lut_heads = 1 : i64, schedule = #blocksparse.schedule<cpu.panel>}
    : (!values, !dense, memref<2x5xi32>, memref<3x2xi32>, !dense) -> ()
  return
}
