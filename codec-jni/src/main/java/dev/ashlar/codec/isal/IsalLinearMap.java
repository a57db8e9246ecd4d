package dev.ashlar.codec.isal;

import dev.ashlar.codec.portable.LinearMap;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A matrix expanded into the tables of the ISA-L in use; their format differs between its versions,
 * so they are never kept beyond the process. They live in a direct buffer, which the collector
 * frees when no call can use it any more: closing needs no lock.
 */
public final class IsalLinearMap implements LinearMap {
  /** Bytes of tables per matrix element, as ISA-L requires. */
  private static final int TABLE_BYTES = 32;

  private static final int ALL_COLUMNS = -1;

  private final int columns;
  private final int rows;
  private final ByteBuffer tables;
  private final long tablesAddress;

  /**
   * A matrix with one row per target and one column per source.
   *
   * @throws IllegalStateException if ISA-L is not loaded
   */
  public IsalLinearMap(byte[][] matrix) {
    NativeLibrary.require();
    rows = matrix.length;
    columns = rows == 0 ? 0 : matrix[0].length;
    tables = ByteBuffer.allocateDirect(TABLE_BYTES * rows * columns);
    ByteBuffer elements = ByteBuffer.allocateDirect(rows * columns);
    for (byte[] row : matrix) {
      elements.put(row);
    }
    NativeMethods.prepare(columns, rows, elements, tables);
    tablesAddress = NativeMethods.address(tables);
  }

  @Override
  public void multiply(ByteBuffer[] sources, ByteBuffer[] targets, int length) {
    checkShape(sources.length == columns && targets.length == rows);
    apply(ALL_COLUMNS, sources, targets, length);
  }

  @Override
  public void accumulate(int column, ByteBuffer source, ByteBuffer[] targets, int length) {
    checkShape(column >= 0 && column < columns && targets.length == rows);
    apply(column, new ByteBuffer[] {source}, targets, length);
  }

  private static void checkShape(boolean fits) {
    if (!fits) {
      throw new IllegalArgumentException("the buffers do not fit the matrix");
    }
  }

  private void apply(int column, ByteBuffer[] sources, ByteBuffer[] targets, int length) {
    @Nullable ByteBuffer[] buffers = gather(sources, targets);
    try {
      if (sources.length + targets.length <= NativeMethods.NARROW_MAX) {
        applyNarrow(column, buffers, sources.length + targets.length, length);
      } else {
        applyWide(column, buffers, length);
      }
    } finally {
      Reference.reachabilityFence(tables);
    }
  }

  /** A copy, so that nobody changes the array after the check. */
  private static @Nullable ByteBuffer[] gather(ByteBuffer[] sources, ByteBuffer[] targets) {
    int count = sources.length + targets.length;
    @Nullable ByteBuffer[] buffers = new ByteBuffer[Math.max(count, NativeMethods.NARROW_MAX)];
    System.arraycopy(sources, 0, buffers, 0, sources.length);
    System.arraycopy(targets, 0, buffers, sources.length, targets.length);
    return buffers;
  }

  private void applyNarrow(int column, @Nullable ByteBuffer[] b, int count, int length) {
    int[] p = new int[NativeMethods.NARROW_MAX];
    for (int i = 0; i < count; i++) {
      p[i] = checkedPosition(b[i], length);
    }
    NativeMethods.applyNarrow(
        tablesAddress,
        columns,
        rows,
        column,
        length,
        count,
        b[0],
        b[1],
        b[2],
        b[3],
        b[4],
        b[5],
        b[6],
        b[7],
        b[8],
        b[9],
        b[10],
        b[11],
        p[0],
        p[1],
        p[2],
        p[3],
        p[4],
        p[5],
        p[6],
        p[7],
        p[8],
        p[9],
        p[10],
        p[11]);
  }

  private void applyWide(int column, @Nullable ByteBuffer[] buffers, int length) {
    int sources = column == ALL_COLUMNS ? columns : 1;
    long[] addresses = new long[sources + rows];
    for (int i = 0; i < addresses.length; i++) {
      ByteBuffer buffer = buffers[i];
      int position = checkedPosition(buffer, length);
      addresses[i] = NativeMethods.address(buffer) + position;
    }
    try {
      NativeMethods.applyWide(tablesAddress, columns, rows, column, length, addresses);
    } finally {
      Reference.reachabilityFence(buffers);
    }
  }

  /**
   * Reads the position once and compares it with the capacity, which never changes: so even a
   * caller that moves the buffer's position or limit meanwhile cannot make native code leave the
   * buffer.
   */
  private static int checkedPosition(@Nullable ByteBuffer buffer, int length) {
    if (buffer == null || !buffer.isDirect()) {
      throw new IllegalArgumentException("ISA-L needs direct buffers");
    }
    int position = buffer.position();
    if (length > buffer.capacity() - position) {
      throw new IllegalArgumentException("a buffer has fewer than " + length + " bytes");
    }
    return position;
  }
}
