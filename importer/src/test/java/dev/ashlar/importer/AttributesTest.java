package dev.ashlar.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

class AttributesTest {
  private static Attributes attributes(String type, Map<String, String> metadata) {
    return Attributes.of(HeadObjectResponse.builder().contentType(type).metadata(metadata).build());
  }

  @Test
  void differenceNamesTheHeaderAndBothValues() {
    Attributes original = attributes("text/plain", Map.of("stage", "test"));
    assertEquals(
        Optional.of("Content-Type is 'image/png' instead of 'text/plain'"),
        attributes("image/png", Map.of("stage", "test")).difference(original));
    assertEquals(
        Optional.of("x-amz-meta-stage is absent instead of 'test'"),
        attributes("text/plain", Map.of()).difference(original));
  }

  @Test
  void whatTheImportAddsIsNoDifference() {
    Attributes original = attributes("text/plain", Map.of("stage", "test"));
    assertEquals(Optional.empty(), original.withImportedEtag("x").difference(original));
  }
}
