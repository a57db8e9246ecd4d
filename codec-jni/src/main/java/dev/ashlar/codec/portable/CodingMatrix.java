package dev.ashlar.codec.portable;

/**
 * The m × k matrix that makes parity from data. It is part of the format on disk.
 *
 * <p>Cauchy, 1 / ((k + j) ⊕ i), because every square submatrix of one can be inverted, which holds
 * for the Vandermonde matrices of ISA-L only for some k and m. Columns, then rows, are scaled so
 * that the first row and the first column are all ones; scaling keeps that property. So parity 0 is
 * the XOR of the data, and all parity of a stripe with one strip is a copy of it.
 */
public final class CodingMatrix {
  /** Indices are elements of GF(2^8), of which ISA-L's limit leaves 255. */
  private static final int SHARDS_MAX = 255;

  private final int dataShards;
  private final byte[][] parityRows;

  private CodingMatrix(int dataShards, byte[][] parityRows) {
    this.dataShards = dataShards;
    this.parityRows = parityRows;
  }

  public static CodingMatrix of(int dataShards, int parityShards) {
    if (dataShards < 1 || parityShards < 0 || dataShards > SHARDS_MAX - parityShards) {
      throw new IllegalArgumentException(
          "no code has %d data and %d parity shards: at least 1 and 0, at most %d together"
              .formatted(dataShards, parityShards, SHARDS_MAX));
    }
    byte[][] rows = new byte[parityShards][dataShards];
    for (int j = 0; j < parityShards; j++) {
      // A row is divided by its own first element, as the columns were scaled beforehand.
      int rowScale = GaloisField.inverse(columnsScaled(dataShards, j, 0));
      for (int i = 0; i < dataShards; i++) {
        rows[j][i] = (byte) GaloisField.multiply(columnsScaled(dataShards, j, i), rowScale);
      }
    }
    return new CodingMatrix(dataShards, rows);
  }

  /** Element (j, i) of the Cauchy matrix, divided by element (0, i). */
  private static int columnsScaled(int dataShards, int j, int i) {
    return GaloisField.multiply(GaloisField.inverse((dataShards + j) ^ i), dataShards ^ i);
  }

  public int dataShards() {
    return dataShards;
  }

  public int parityShards() {
    return parityRows.length;
  }

  public byte[][] parityRows() {
    byte[][] copy = new byte[parityRows.length][];
    for (int j = 0; j < copy.length; j++) {
      copy[j] = parityRows[j].clone();
    }
    return copy;
  }

  /** The matrix that makes the wanted shards from k distinct present ones. */
  public byte[][] recoveryRows(int[] present, int[] wanted) {
    byte[][] dataFromPresent = inverse(shardRows(present));
    byte[][] wantedFromData = shardRows(wanted);
    byte[][] rows = new byte[wanted.length][dataShards];
    for (int row = 0; row < wanted.length; row++) {
      for (int i = 0; i < dataShards; i++) {
        addScaled(dataFromPresent[i], wantedFromData[row][i] & 0xff, rows[row]);
      }
    }
    return rows;
  }

  /** What each shard is made of: itself for data, its parity row for parity. */
  private byte[][] shardRows(int[] shards) {
    byte[][] rows = new byte[shards.length][];
    for (int n = 0; n < shards.length; n++) {
      if (shards[n] < dataShards) {
        rows[n] = new byte[dataShards];
        rows[n][shards[n]] = 1;
      } else {
        rows[n] = parityRows[shards[n] - dataShards].clone();
      }
    }
    return rows;
  }

  /** Gauss-Jordan; overwrites its argument. */
  static byte[][] inverse(byte[][] matrix) {
    int size = matrix.length;
    byte[][] inverse = new byte[size][size];
    for (int i = 0; i < size; i++) {
      inverse[i][i] = 1;
    }
    for (int column = 0; column < size; column++) {
      int pivot = pivotRow(matrix, column);
      swap(matrix, pivot, column);
      swap(inverse, pivot, column);
      int scale = GaloisField.inverse(matrix[column][column] & 0xff);
      scale(matrix[column], scale);
      scale(inverse[column], scale);
      for (int row = 0; row < size; row++) {
        int factor = matrix[row][column] & 0xff;
        if (row != column && factor != 0) {
          addScaled(matrix[column], factor, matrix[row]);
          addScaled(inverse[column], factor, inverse[row]);
        }
      }
    }
    return inverse;
  }

  private static int pivotRow(byte[][] matrix, int column) {
    for (int row = column; row < matrix.length; row++) {
      if (matrix[row][column] != 0) {
        return row;
      }
    }
    throw new ArithmeticException("the matrix has no inverse");
  }

  private static void swap(byte[][] rows, int a, int b) {
    byte[] row = rows[a];
    rows[a] = rows[b];
    rows[b] = row;
  }

  private static void scale(byte[] row, int factor) {
    for (int i = 0; i < row.length; i++) {
      row[i] = (byte) GaloisField.multiply(row[i] & 0xff, factor);
    }
  }

  private static void addScaled(byte[] row, int factor, byte[] sum) {
    for (int i = 0; i < row.length; i++) {
      sum[i] ^= (byte) GaloisField.multiply(row[i] & 0xff, factor);
    }
  }
}
