from django.urls import path

from debates import views, views_books, views_budget, views_new, views_preflight, views_topics

app_name = "debates"

urlpatterns = [
    path("", views.debate_list, name="list"),
    path("start/", views.start, name="start"),
    path("debates/new/", views_new.new, name="new"),
    path("debates/new/validate/", views_new.validate, name="validate"),
    path("debates/new/persona/", views_new.use_persona, name="persona"),
    path("debates/new/models/", views_new.models_offered, name="models"),
    path("debates/new/topic/", views_topics.suggest, name="suggest-topic"),
    path("debates/new/preflight/", views_preflight.check, name="preflight"),
    path("debates/<uuid:pk>/", views.detail, name="detail"),
    path("debates/<uuid:pk>/live/", views.live, name="live"),
    path("debates/<uuid:pk>/stop/", views.stop, name="stop"),
    path("debates/<uuid:pk>/pause/", views.pause, name="pause"),
    path("debates/<uuid:pk>/resume/", views.resume, name="resume"),
    path("debates/<uuid:pk>/extend/", views_budget.extend, name="extend"),
    path("debates/<uuid:pk>/models/", views_books.model_calls, name="model-calls"),
    path("debates/<uuid:pk>/books/", views_books.books, name="books"),
    path("debates/<uuid:pk>/approvals/<int:approval_id>/", views_books.approval, name="approval"),
    path("debates/<uuid:pk>/approvals/<int:approval_id>/allow/", views_books.approve, name="approve"),
    path("debates/<uuid:pk>/approvals/<int:approval_id>/refuse/", views_books.refuse, name="refuse"),
    path("debates/<uuid:pk>/delete/", views.delete, name="delete"),
]
