package dev.ashlar.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class DigestsTest {
  private static final String OF_NOTHING = "d41d8cd98f00b204e9800998ecf8427e";

  private static Version version(String etag) {
    return new Version("key", "null", false, etag, 0, Instant.EPOCH);
  }

  @Test
  void etagOfPartsIsTheSumOfTheirSums() {
    // As S3 has it for one empty part.
    assertEquals("59adb24ef3cdbe0297f05b395827453f-1", Digests.ofParts(List.of(OF_NOTHING)));
  }

  @Test
  void etagsTellTheNumberOfParts() {
    assertEquals(12, version(OF_NOTHING + "-12").parts());
    assertEquals(0, version(OF_NOTHING).parts());
    assertEquals(0, version("a-b").parts());
    assertTrue(version(OF_NOTHING).hasMd5());
    assertFalse(version(OF_NOTHING + "-12").hasMd5());
    assertFalse(version("0123456789abcdef").hasMd5());
  }
}
