package dev.ashlar.codec.portable;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class CodingMatrixTest {
  @Test
  void firstRowAndColumnAreOnes() {
    for (int k = 1; k <= 250; k += 7) {
      byte[][] rows = CodingMatrix.of(k, 5).parityRows();
      for (int i = 0; i < k; i++) {
        assertEquals(1, rows[0][i]);
      }
      for (byte[] row : rows) {
        assertEquals(1, row[0]);
      }
    }
  }

  @Test
  void everySquareSubmatrixCanBeInverted() {
    byte[][] rows = CodingMatrix.of(8, 4).parityRows();
    for (int rowSet = 1; rowSet < 1 << 4; rowSet++) {
      for (int columnSet = 1; columnSet < 1 << 8; columnSet++) {
        if (Integer.bitCount(rowSet) == Integer.bitCount(columnSet)) {
          byte[][] square = submatrix(rows, rowSet, columnSet);
          assertDoesNotThrow(() -> CodingMatrix.inverse(square));
        }
      }
    }
  }

  private static byte[][] submatrix(byte[][] rows, int rowSet, int columnSet) {
    int size = Integer.bitCount(rowSet);
    byte[][] square = new byte[size][size];
    int row = 0;
    for (int j = 0; j < rows.length; j++) {
      if ((rowSet >> j & 1) != 0) {
        int column = 0;
        for (int i = 0; i < rows[j].length; i++) {
          if ((columnSet >> i & 1) != 0) {
            square[row][column++] = rows[j][i];
          }
        }
        row++;
      }
    }
    return square;
  }

  /** Data on drives depends on these bytes: they never change. */
  @Test
  void matrixOf4Plus2IsTheOneOnDrives() throws IOException {
    StringBuilder actual = new StringBuilder();
    for (byte[] row : CodingMatrix.of(4, 2).parityRows()) {
      actual.append(HexFormat.ofDelimiter(" ").formatHex(row)).append('\n');
    }
    try (InputStream golden =
        CodingMatrixTest.class.getResourceAsStream("/golden/matrix-4+2.txt")) {
      byte[] expected = Objects.requireNonNull(golden).readAllBytes();
      assertEquals(new String(expected, StandardCharsets.US_ASCII), actual.toString());
    }
  }
}
