package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretRemovalTest {
  private static final String SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY";

  private final SecretRemoval removal = new SecretRemoval(List.of("root-secret/+="));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ASHLAR_SECRET_KEY=" + SECRET,
        "{\"secretKey\":\"" + SECRET + "\"}",
        "{\"SecretAccessKey\": \"" + SECRET + "\"}",
        "secret-key: " + SECRET,
        "<x>sessionToken=" + SECRET + "</x>",
        "?X-Amz-Signature=" + SECRET + "&X-Amz-Date=1",
        "?X-Amz-Security-Token=" + SECRET,
        "password=" + SECRET,
        "-javaagent:x.jar=apikey=" + SECRET,
        "api-key: " + SECRET,
        "-----BEGIN PRIVATE KEY-----\n" + SECRET + "\n-----END PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\n" + SECRET + "\n",
      })
  void namedSecretsAndPrivateKeysAreRemoved(String text) {
    assertFalse(removal.from(text).contains(SECRET), removal.from(text));
  }

  @Test
  void knownSecretsAreRemovedWhereverTheyAre() {
    assertEquals("a (secret removed) b", removal.from("a root-secret/+= b"));
  }

  @Test
  void otherTextStays() {
    String text = "{\"accessKey\":\"AKEXAMPLE\",\"keys\":12,\"node\":\"secret-santa\"}";
    assertEquals(text, removal.from(text));
  }
}
