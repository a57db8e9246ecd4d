package dev.ashlar.server.config;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KmsKeyFileTest {
  private static final String KEY =
      Base64.getEncoder().encodeToString("a key of exactly 32 bytes, ASCII".getBytes(US_ASCII));

  @TempDir private Path folder = Path.of("");

  private Map<String, byte[]> read(String text) throws Exception {
    return KmsKeyFile.read(Files.writeString(folder.resolve("kms"), text.replace("KEY", KEY)));
  }

  @Test
  void keysKeepTheirOrder() throws Exception {
    Map<String, byte[]> keys =
        read(
            "{\"keys\":[{\"id\":\"z\",\"key\":\"KEY\"},{\"key\":\"KEY\",\"id\":\"a:b/c_d.e@f-1\"}]}");
    assertEquals(List.of("z", "a:b/c_d.e@f-1"), List.copyOf(keys.keySet()));
    assertEquals(
        "a key of exactly 32 bytes, ASCII",
        new String(Objects.requireNonNull(keys.get("z")), US_ASCII));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "KEY",
        "[]",
        "{}",
        "{\"keys\":{}}",
        "{\"keys\":[]}",
        "{\"keys\":[\"KEY\"]}",
        "{\"keys\":[{\"id\":\"a\",\"key\":\"KEY\"}],\"more\":1}",
        "{\"keys\":[{\"id\":\"a\"}]}",
        "{\"keys\":[{\"key\":\"KEY\"}]}",
        "{\"keys\":[{\"id\":\"\",\"key\":\"KEY\"}]}",
        "{\"keys\":[{\"id\":\"a b\",\"key\":\"KEY\"}]}",
        "{\"keys\":[{\"id\":\"a\",\"key\":\"KEY\",\"key2\":\"KEY\"}]}",
        "{\"keys\":[{\"id\":\"a\",\"id\":\"b\",\"key\":\"KEY\"}]}",
        "{\"keys\":[{\"id\":\"a\",\"key\":\"KEYKEY\"}]}",
        "{\"keys\":[{\"id\":\"a\",\"key\":\"c2hvcnQ=\"}]}",
        "{\"keys\":[{\"id\":\"a\",\"key\":\"KEY\"},{\"id\":\"a\",\"key\":\"KEY\"}]}",
        "{\"keys\":[{\"id\":\"a\",\"key\":\"KEY\"}]} x",
        "{\"keys\":[{\"id\":\"a\",\"key\":\"KEY\""
      })
  void whatIsWrongIsNamedWithoutTheKey(String text) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> read(text));
    String message = String.valueOf(e.getMessage());
    assertTrue(message.startsWith(folder.resolve("kms").toString()), message);
    assertFalse(message.contains(KEY), message);
    assertNull(e.getCause());
  }
}
