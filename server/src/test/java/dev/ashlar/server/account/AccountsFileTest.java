package dev.ashlar.server.account;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccountsFileTest {
  private static final String SECRET = "a secret that is not shown";
  private static final String KEYS = "\"accessKey\":\"AKX\",\"secretKey\":\"" + SECRET + "\"";
  private static final String GOOD = "{\"id\":\"111122223333\",\"name\":\"one\"," + KEYS + "}";

  @Test
  void anAccountHasWhatTheFileSays() {
    AccountSpec spec =
        AccountsFile.parse("[" + GOOD.replace("}", ",\"email\":\"a@b.example\"}") + "]").get(0);
    assertEquals(new AccountSpec("111122223333", "one", "a@b.example", "", "AKX", SECRET), spec);
    assertFalse(spec.toString().contains(SECRET));
    assertEquals(List.of(), AccountsFile.parse("[]"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|a JSON list of accounts is expected",
        "[1]|account 1: a JSON object is expected",
        "[GOOD,{}]|account 2: accessKey: is missing",
        "[GOOD,GOOD]|account 2: id: is that of account 1",
        "[{\"id\":111122223333}]|account 1: id: a string is expected",
        "[{\"account\":\"x\"}]|account 1: unknown field \"account\"",
        "[{\"id\":\"1\",\"name\":\"one\",KEYS}]|account 1: id: 12 digits are expected, not \"1\"",
        "[{\"id\":\"1\",\"id\":\"2\"}]|no JSON: the fault is in line 1, column 16",
        "[GOOD] x|no JSON: the fault is in line 1, column",
        "[GOOD|no JSON: the fault is in line 1, column",
      })
  void whatIsWrongIsNamedWithoutSecrets(String text, String why) {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> AccountsFile.parse(text.replace("GOOD", GOOD).replace("KEYS", KEYS)));
    String message = String.valueOf(e.getMessage());
    assertTrue(message.startsWith(why), message);
    assertFalse(message.contains(SECRET), message);
  }

  @ParameterizedTest
  @CsvSource({
    "12345678901,n,,,AKX,long-enough,id",
    "123456789012,' ',,,AKX,long-enough,name",
    "123456789012,n,nobody,,AKX,long-enough,email",
    "123456789012,n,,ABC,AKX,long-enough,canonicalId",
    "123456789012,n,,,A/K,long-enough,accessKey",
    "123456789012,n,,,AKX,short,secretKey",
  })
  void fieldsAreChecked(
      String id,
      String name,
      String email,
      String canonical,
      String key,
      String secret,
      String it) {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                new AccountSpec(
                    id,
                    name,
                    email == null ? "" : email,
                    canonical == null ? "" : canonical,
                    key,
                    secret));
    assertTrue(String.valueOf(e.getMessage()).startsWith(it + ": "), e.getMessage());
  }

  @Test
  void theFileIsNamed(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("accounts.json"), "nothing");
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> AccountsFile.read(file));
    assertTrue(String.valueOf(e.getMessage()).startsWith(file + ": no JSON"), e.getMessage());
  }
}
