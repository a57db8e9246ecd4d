package dev.ashlar.gateway.website;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.website.Redirect.KeyChange;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class RedirectTest {
  private static String location(Redirect redirect, String key, String prefix) {
    return redirect.location(key, prefix, "http", "b.web.test:81");
  }

  @Test
  void locations() {
    KeyChange none = new KeyChange.None();
    assertEquals("/a%20b", location(new Redirect(null, null, 0, none), "a b", ""));
    assertEquals("http://x.test/a", location(new Redirect(null, "x.test", 0, none), "a", ""));
    assertEquals(
        "https://b.web.test:81/a", location(new Redirect("https", null, 0, none), "a", ""));
    assertEquals(
        "/other", location(new Redirect(null, null, 0, new KeyChange.Whole("other")), "a", ""));
    KeyChange prefix = new KeyChange.Prefix("new/");
    assertEquals("/new/a", location(new Redirect(null, null, 0, prefix), "old/a", "old/"));
    assertEquals("/new/old/a", location(new Redirect(null, null, 0, prefix), "old/a", ""));
    assertEquals(301, new Redirect(null, null, 0, none).status());
    assertEquals(307, new Redirect(null, null, 307, none).status());
  }

  @Property
  void noKeyIsTakenForAHostOrEndsTheHeader(@ForAll String key) {
    String path = Redirect.path(key);
    assertTrue(path.startsWith("/"));
    assertFalse(path.startsWith("//"));
    assertTrue(path.chars().allMatch(c -> c > ' ' && c < 0x7F), path);
  }
}
