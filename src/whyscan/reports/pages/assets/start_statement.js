// The report on a statement comes to life: a link to a scan opens it.

for (const link of document.querySelectorAll('a[href^="#scan-"]')) {
  const scan = document.getElementById(link.hash.slice(1));
  link.addEventListener("click", () => { scan.open = true; });
}
startPage(() => {});
