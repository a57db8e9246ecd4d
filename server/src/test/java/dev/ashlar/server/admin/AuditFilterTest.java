package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.http.HttpRequest;
import org.junit.jupiter.api.Test;

class AuditFilterTest {
  @Test
  void onlyPagesThatShowSomethingAreNotTold() {
    assertTrue(AuditFilter.onlyShows(HttpRequest.GET("/admin/status")));
    assertTrue(AuditFilter.onlyShows(HttpRequest.GET("/admin/status/")));
    assertTrue(AuditFilter.onlyShows(HttpRequest.GET("/scrub")));
    assertFalse(AuditFilter.onlyShows(HttpRequest.GET("/admin/metadata-backup")));
    assertFalse(AuditFilter.onlyShows(HttpRequest.GET("/admin/metadata-backup/")));
    assertFalse(AuditFilter.onlyShows(HttpRequest.GET("/admin/diagnosis//")));
    assertFalse(AuditFilter.onlyShows(HttpRequest.GET("/admin/unknown")));
    assertFalse(AuditFilter.onlyShows(HttpRequest.POST("/admin/status", "")));
    assertFalse(AuditFilter.onlyShows(HttpRequest.POST("/scrub", "")));
  }

  @Test
  void aSlashAtTheEndMakesNoOtherCommand() {
    assertEquals("metadata-backup", AuditFilter.command("/admin/metadata-backup"));
    assertEquals("metadata-backup", AuditFilter.command("/admin/metadata-backup//"));
    assertEquals("scrub", AuditFilter.command("/scrub/"));
  }
}
