package dev.ashlar.gateway.principal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PutAccessKey;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SecretSealsTest {
  private static final String SECRET = "a secret, auch mit \u00fcml\u00e4uten";
  private static final SecretSeals SEALS = new SecretSeals(Map.of("first", key(1)));

  private static byte[] key(int fill) {
    byte[] key = new byte[SecretSeals.KEY_BYTES];
    Arrays.fill(key, (byte) fill);
    return key;
  }

  private static CredentialRow stored(SecretSeals seals) {
    PutAccessKey put = seals.put(PutAccessKey.newBuilder().setAccessKey("AK"), SECRET).build();
    return CredentialRow.newBuilder()
        .setAccessKey(put.getAccessKey())
        .setSecret(put.getSecret())
        .setSealedBy(put.getSealedBy())
        .build();
  }

  @Test
  void aSealedSecretComesBackAndIsNotReadable() throws Exception {
    CredentialRow row = stored(SEALS);
    assertEquals(SECRET, SEALS.open(row));
    assertEquals("first", row.getSealedBy());
    assertFalse(row.getSecret().toStringUtf8().contains("secret"));
    assertNotEquals(row.getSecret(), stored(SEALS).getSecret());
  }

  @Test
  void plainSecretsAreReadToo() throws Exception {
    CredentialRow plain = stored(SecretSeals.NONE);
    assertEquals(SECRET, plain.getSecret().toStringUtf8());
    assertEquals(SECRET, SEALS.open(plain));
    assertEquals(SECRET, SecretSeals.NONE.open(plain));
    assertEquals("old", SEALS.open(CredentialRow.newBuilder().setSecretKey("old").build()));
    assertFalse(SEALS.isCurrent(plain));
    assertTrue(SecretSeals.NONE.isCurrent(plain));
  }

  @Test
  void anOlderKeyOpensWhatItHasSealed() throws Exception {
    Map<String, byte[]> keys = new LinkedHashMap<>();
    keys.put("second", key(2));
    keys.put("first", key(1));
    SecretSeals rotated = new SecretSeals(keys);
    CredentialRow row = stored(SEALS);
    assertEquals(SECRET, rotated.open(row));
    assertFalse(rotated.isCurrent(row));
    assertEquals("second", stored(rotated).getSealedBy());
    assertTrue(rotated.isCurrent(stored(rotated)));
  }

  @Test
  void whatWasAlteredOrIsOfAnotherKeyIsNotOpened() {
    CredentialRow row = stored(SEALS);
    refused(SecretSeals.NONE, row);
    refused(new SecretSeals(Map.of("first", key(2))), row);
    refused(SEALS, row.toBuilder().setAccessKey("OTHER").build());
    refused(SEALS, row.toBuilder().setSecret(ByteString.EMPTY).build());
    byte[] bytes = row.getSecret().toByteArray();
    for (int i = 0; i < bytes.length; i++) {
      byte[] altered = bytes.clone();
      altered[i] ^= 1;
      refused(SEALS, row.toBuilder().setSecret(ByteString.copyFrom(altered)).build());
    }
  }

  private static void refused(SecretSeals seals, CredentialRow row) {
    assertThrows(MetadataUnavailableException.class, () -> seals.open(row));
  }

  @Test
  void keysHaveTheirLength() {
    assertThrows(
        IllegalArgumentException.class, () -> new SecretSeals(Map.of("short", new byte[16])));
  }
}
