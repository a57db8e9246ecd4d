package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.encryption.vault.VaultConfig;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EncryptionOptionsTest {
  private static EncryptionOptions parsed(String arguments) {
    String[] all = arguments.isEmpty() ? new String[0] : arguments.split(" ", -1);
    return ServerOptions.parse(Map.of(), all).encryption();
  }

  @Test
  void nothingIsEncryptedByDefault() throws Exception {
    EncryptionOptions none = parsed("");
    assertEquals(EncryptionOptions.Standard.NONE, none.standard());
    assertNull(none.masterKeyFile());
    assertTrue(none.kmsKeys().isEmpty());
    assertNull(none.vault());
    assertEquals(
        EncryptionOptions.Standard.AES256, parsed("--default-encryption aes256").standard());
  }

  @Test
  void vaultIsReachedAsTheOptionsSay() {
    VaultConfig vault =
        parsed(
                "--kms-vault-address https://vault:8200 --kms-vault-token-file t --kms-vault-key k"
                    + " --kms-vault-mount team/transit --kms-vault-timeout 7")
            .vault();
    assertNotNull(vault);
    assertEquals("https://vault:8200", vault.address().toString());
    assertEquals("team/transit", vault.mount());
    assertEquals("k", vault.standardKey());
    assertEquals(Duration.ofSeconds(7), vault.timeout());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--kms-vault-address https://vault:8200",
        "--kms-vault-token-file t",
        "--kms-vault-address vault:8200 --kms-vault-token-file t",
        "--kms-vault-address https://me:secret@vault --kms-vault-token-file t",
        "--kms-vault-address https://vault?x=1 --kms-vault-token-file t",
        "--kms-vault-mount /transit",
        "--kms-vault-mount a/../b?",
        "--kms-vault-timeout 0",
        "--kms-vault-timeout 61",
        "--kms-keys f --kms-vault-address https://vault --kms-vault-token-file t",
        "--default-encryption aws:kms"
      })
  void contradictionsAreRefused(String arguments) {
    Exception e = assertThrows(Exception.class, () -> parsed(arguments));
    assertTrue(String.valueOf(e.getMessage()).contains("--"), e.getMessage());
  }

  @Test
  void aClusterNeedsAMasterKeyToEncrypt() {
    EncryptionOptions options = parsed("--default-encryption AES256");
    options.checkKeys(Map.of(), true);
    assertThrows(IllegalArgumentException.class, () -> options.checkKeys(Map.of(), false));
  }
}
