package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PutAccessKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MasterKeyFileTest {
  private static final String KEY = Base64.getEncoder().encodeToString(new byte[32]);

  @TempDir private Path folder = Path.of("");

  private SecretSeals read(String text) throws Exception {
    return new SecretSeals(MasterKeyFile.read(Files.writeString(folder.resolve("keys"), text)));
  }

  @Test
  void theFirstKeySeals() throws Exception {
    SecretSeals seals = read("# keys\n\n second=" + KEY + "\nfirst=" + KEY + "\n");
    PutAccessKey put = seals.put(PutAccessKey.newBuilder().setAccessKey("AK"), "secret").build();
    assertEquals("second", put.getSealedBy());
    CredentialRow.Builder row =
        CredentialRow.newBuilder().setAccessKey("AK").setSecret(put.getSecret());
    assertEquals("secret", seals.open(row.setSealedBy("first").build()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# nothing", "KEY", "a=short", "a b=KEY", "=KEY", "a=KEY\na=KEY"})
  void whatIsWrongIsNamedWithoutTheKey(String text) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> read(text.replace("KEY", KEY)));
    String message = String.valueOf(e.getMessage());
    assertTrue(message.startsWith(folder.resolve("keys").toString()), message);
    assertFalse(message.contains(KEY), message);
  }
}
