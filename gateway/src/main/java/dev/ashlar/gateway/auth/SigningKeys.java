package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.concurrent.ConcurrentHashMap;

/** Caches derived signing keys by day and credential, which saves four HMACs per request. */
final class SigningKeys {
  private static final int KEYS_MAX = 4096;

  private final ConcurrentHashMap<Id, HmacKey> keys = new ConcurrentHashMap<>();

  /** Contains the secret, so that a changed secret needs no invalidation. */
  private record Id(String secret, String date, String region) {}

  HmacKey get(String secret, CredentialScope scope) {
    Id id = new Id(secret, scope.date(), scope.region());
    HmacKey key = keys.get(id);
    if (key == null) {
      if (keys.size() >= KEYS_MAX) {
        keys.clear();
      }
      key = derive(id);
      keys.put(id, key);
    }
    return key;
  }

  private static HmacKey derive(Id id) {
    byte[] key = ("AWS4" + id.secret()).getBytes(UTF_8);
    for (String step :
        new String[] {
          id.date(), id.region(), CredentialScope.SERVICE, CredentialScope.TERMINATOR
        }) {
      key = new HmacKey(key).sign(step.getBytes(UTF_8));
    }
    return new HmacKey(key);
  }
}
